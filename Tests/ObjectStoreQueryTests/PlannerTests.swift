import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Tests the query planner with index shapes and keys in memory, without a store.
@Suite struct PlannerTests {
  private typealias M = BareSample
  private static let columns = M.columns

  private func index(_ positions: Int..., isUnique: Bool = false) -> IndexShape {
    IndexShape(
      parts: positions.map { IndexShape.Part(position: $0, isCollection: $0 >= 12) },
      isUnique: isUnique
    )
  }

  private func plan(
    _ filter: Filter<M>,
    _ indexes: [IndexShape],
    order: Query<M> = M.all,
    isLimited: Bool = false
  ) throws -> AccessPlan {
    QueryPlanner(indexes: indexes)
      .plan(filter.node, order: try #require(order.sortOrder), isLimited: isLimited)
  }

  /// Returns the position of the index that a plan uses, if it uses exactly one.
  private func index(of plan: AccessPlan) -> Int? {
    switch plan.access {
    case .ordered(let path, _): path.index
    case .shortest(let paths) where paths.count == 1: paths[0].index
    default: nil
    }
  }

  private func isWalk(_ plan: AccessPlan, reversed: Bool = false) -> Bool {
    if case .ordered(_, reversed) = plan.access { return true }
    return false
  }

  // MARK: Index selection

  @Test func `a query without a usable index scans all objects`() throws {
    let c = Self.columns
    #expect(try plan(.all, []).access == .scan)
    #expect(try plan(c.rank == 1, []).access == .scan)
    #expect(try plan(c.rank == 1, [index(2), index(2, 1)]).access == .scan)
    #expect(try plan(c.rank != 1, [index(1)]).access == .scan)
    #expect(try plan(!(c.rank == 1), [index(1)]).access == .scan)
    #expect(try plan(c.name.contains("a"), [index(5)]).access == .scan)
    #expect(try plan(c.rank == 1 || c.name.contains("a"), [index(1)]).access == .scan)
  }

  @Test func `a condition that all listed values meet is not tested`() throws {
    let c = Self.columns
    #expect(try plan(c.rank == 1 && c.rank != 2, [index(1)]).isExact)
    #expect(try plan(c.rank != 9 && c.rank.isIn([1, 2]) && c.rank != 8, [index(1)]).isExact)
    #expect(try plan(c.name != "b" && c.name == "a", [index(5)]).isExact)
    #expect(try plan(c.rank == 1 && c.rank == 1, [index(1)]).isExact)
    // One of the values does not meet the other condition, or the other field has no list.
    #expect(try !plan(c.rank.isIn([1, 2]) && c.rank != 2, [index(1)]).isExact)
    #expect(try !plan(c.rank == 1 && c.name != "b", [index(1)]).isExact)
    #expect(try !plan(c.rank > 1 && c.rank != 2, [index(1)]).isExact)
  }

  @Test func `contradictory conditions read nothing`() throws {
    let c = Self.columns
    #expect(try plan(.none, []).access == .nothing)
    #expect(try plan(c.rank == 1 && c.rank == 2, [index(1)]).access == .nothing)
    #expect(try plan(c.rank > 1 && c.rank < 1, [index(1)]).access == .nothing)
    #expect(try plan(c.level == nil && c.level > 1, [index(4)]).access == .nothing)
  }

  @Test func `a unique index is preferred, then more equal fields, then a range`() throws {
    let c = Self.columns
    let both = c.flag == true && c.rank == 1
    #expect(try index(of: plan(both, [index(3), index(1), index(3, 1)])) == 2)
    #expect(try index(of: plan(c.flag == true && c.rank > 1, [index(3), index(3, 1)])) == 1)
    #expect(try index(of: plan(both, [index(3, 1), index(1, isUnique: true)])) == 1)
    let single = try plan(both, [index(3, 1), index(1, isUnique: true)])
    #expect(single.isOrdered)
    // A unique index may contain nil any number of times.
    guard case .ordered(let path, _) = try plan(c.level == nil, [index(4, isUnique: true)]).access
    else {
      Issue.record("the plan is not an index scan")
      return
    }
    #expect(!path.isSingle)
  }

  @Test func `fields after a range or a gap do not use the index`() throws {
    let c = Self.columns
    let plan = try plan(c.flag == true && c.rank > 1 && c.level == 2, [index(3, 1, 4)])
    guard case .shortest(let paths) = plan.access else {
      Issue.record("\(plan)")
      return
    }
    #expect(paths[0].equalParts == 1)
    #expect(paths[0].hasRange)
    #expect(paths[0].conjuncts == [0, 1])
    #expect(!plan.isExact)
    let gap = try self.plan(c.flag == true && c.level == 2, [index(3, 1, 4)])
    guard case .shortest(let gapPaths) = gap.access else {
      Issue.record("\(gap)")
      return
    }
    #expect(gapPaths[0].conjuncts == [0])
  }

  @Test func `an index with a collection is used only for conditions on an element`() throws {
    let c = Self.columns
    #expect(try plan(c.rank == 1, [index(1, 12)]).access == .scan)
    #expect(try index(of: plan(c.rank == 1 && c.tags.contains("a"), [index(1, 12)])) == 0)
    #expect(try plan(c.tags.all { $0 == "a" }, [index(12)]).access == .scan)
    let two = try plan(c.tags.contains("a") && c.tags.contains("b"), [index(12)])
    #expect(!two.isExact)
    let order = M.all.order(by: \.rank)
    #expect(try plan(.all, [index(1, 12)], order: order, isLimited: true).access == .scan)
  }

  @Test func `primary keys are looked up for one key or without a usable index`() throws {
    let c = Self.columns
    func access(_ filter: Filter<M>) -> Access {
      QueryPlanner(indexes: [index(1)], primaryKeyPosition: 0)
        .plan(filter.node, order: .stored, isLimited: false).access
    }
    #expect(access(c.id == 3) == .primaryKeys([3.storedBytes]))
    #expect(access(c.id == -3 && c.rank == 1) == .primaryKeys([(-3).storedBytes]))
    #expect(access(c.id.isIn([3, -3]) && c.flag == true).keyCount == 2)
    #expect(access(c.id.isIn([3, -3]) && c.id == 3) == .primaryKeys([3.storedBytes]))
    #expect(access(c.id.isIn([3, -3]) && c.rank == 1).keyCount == nil)
    #expect(access(c.id == 3 || c.id.isIn([-3, 3]) || c.id == 4).keyCount == 3)
    #expect(access(c.id == 3 || c.id > 5) == .scan)
    #expect(access(c.id == 3 || c.flag == true) == .scan)
    #expect(access(c.id > 3) == .scan)
    #expect(access(!(c.id == 3)) == .scan)
    let order = try #require(M.all.order(by: \.rank).sortOrder)
    let ordered = QueryPlanner(indexes: [], primaryKeyPosition: 0)
      .plan(c.id.isIn([3, 4]).node, order: order, isLimited: false)
    #expect(ordered.isExact && !ordered.isOrdered)
  }

  @Test func `columns are read instead of a scan, and only where no index helps`() throws {
    let c = Self.columns
    func plan(_ filter: Filter<M>, _ query: Query<M> = M.all) throws -> AccessPlan {
      QueryPlanner(indexes: [index(5)], primaryKeyPosition: 0, columnPositions: [1, 3])
        .plan(filter.node, order: try #require(query.sortOrder), isLimited: query.limit != nil)
    }
    #expect(try plan(c.rank == 1).access == .columns([1]))
    #expect(try plan(c.rank == 1).isExact)
    #expect(try plan(!(c.rank == 1 || c.flag == true)).access == .columns([1, 3]))
    // The columns decide a part of the condition.
    let part = try plan(c.uuid == UUID() && c.flag == true && c.rank > 1)
    #expect(part.access == .columns([3, 1]))
    #expect(!part.isExact && part.isOrdered)
    #expect(try plan(c.rank == 1 || c.level == 1).access == .scan)
    #expect(try plan(c.level == 1).access == .scan)
    #expect(try plan(.all).access == .scan)
    // An index or the primary key finds the objects of a condition sooner.
    #expect(try self.index(of: plan(c.rank == 1 && c.name == "a")) == 0)
    #expect(try plan(c.rank == 1 && c.id == 3).access == .primaryKeys([3.storedBytes]))
    // An order by a column needs no condition.
    let ordered = try plan(.all, M.all.order(by: \.rank).limit(3))
    #expect(ordered.access == .columns([1]))
    #expect(ordered.isExact && !ordered.isOrdered)
    #expect(try plan(.all, M.all.order(by: \.level)).access == .scan)
  }

  @Test func `a query for many values has one index range per value`() throws {
    let plan = try plan(Self.columns.rank.isIn((0..<5_000).map { $0 * 2 }), [index(1)])
    guard case .shortest(let paths) = plan.access else {
      Issue.record("\(plan)")
      return
    }
    #expect(paths[0].ranges.count == 5_000 && plan.isExact)
  }

  @Test func `an object with several elements may repeat however many ranges follow`() throws {
    let c = Self.columns
    let tags = c.tags.any { $0.isIn(["a", "b"]) }
    // Successive numbers would be one range.
    let ranks = c.rank.isIn((0..<501).map { $0 * 2 })
    func repeats(_ filter: Filter<M>, _ shape: IndexShape) throws -> Bool {
      guard case .shortest(let paths) = try plan(filter, [shape]).access else {
        Issue.record("the plan is not an index scan")
        return false
      }
      return paths[0].mayRepeat
    }
    // The ranks are read as one range for each tag, because there would be 1,002 ranges.
    #expect(try repeats(tags && ranks, index(12, 1)))
    #expect(try repeats(tags && c.rank.isIn([1, 2]), index(12, 1)))
    #expect(try repeats(tags && c.rank > 1, index(12, 1)))
    #expect(try repeats(ranks && tags, index(1, 12)))
    #expect(try repeats(c.tags.any { $0 > "a" } && c.rank == 1, index(12, 1)))
    #expect(try !repeats(c.tags.contains("a") && ranks, index(12, 1)))
    #expect(
      try !repeats(c.tags.contains("a") && c.rank.isIn((0..<1_001).map { $0 * 2 }), index(1, 12))
    )
  }

  @Test func `a disjunction uses indexes for all of its sides or none`() throws {
    let c = Self.columns
    let either = c.rank == 1 || c.name == "a"
    guard case .union(let paths) = try plan(either, [index(1), index(5)]).access else {
      Issue.record("the plan is not a union")
      return
    }
    #expect(paths.map(\.index) == [0, 1])
    #expect(try plan(either, [index(1)]).access == .scan)
    let one = try plan(c.rank == 1 || c.rank > 5, [index(1)])
    #expect(index(of: one) == 0)
    #expect(one.isExact)
  }

  @Test func `two indexes for different conditions are alternatives of one plan`() throws {
    let c = Self.columns
    let both = c.rank == 1 && c.name == "a"
    guard case .shortest(let paths) = try plan(both, [index(1), index(5)]).access else {
      Issue.record("the plan has no alternatives")
      return
    }
    #expect(paths.count == 2)
    #expect(try !plan(both, [index(1), index(5)]).isExact)
  }

  // MARK: Order

  @Test func `an index is in order of the fields that follow its fixed fields`() throws {
    let c = Self.columns
    let up = M.all.order(by: \.rank).order(by: \.ratio)
    let down = M.all.order(by: \.rank, .descending).order(by: \.ratio, .descending)
    let mixed = M.all.order(by: \.rank).order(by: \.ratio, .descending)
    let shapes = [index(3, 1, 2)]
    #expect(isWalk(try plan(c.flag == true, shapes, order: up)))
    #expect(isWalk(try plan(c.flag == true, shapes, order: down), reversed: true))
    #expect(try !plan(c.flag == true, shapes, order: mixed).isOrdered)
    // The remaining index fields would sort before the ids.
    #expect(try !plan(c.flag == true, shapes, order: M.all.order(by: \.rank)).isOrdered)
    #expect(isWalk(try plan(c.flag == true && c.rank > 1, shapes, order: up)))
    #expect(
      isWalk(try plan(c.flag == true && c.rank == 1, shapes, order: M.all.order(by: \.ratio)))
    )
    // A fixed field does not affect the order.
    #expect(
      isWalk(
        try plan(
          c.flag == true,
          shapes,
          order: M.all.order(by: \.flag).order(by: \.rank).order(by: \.ratio)
        )
      )
    )
    #expect(isWalk(try plan(c.rank.isIn([1, 2]), [index(1, 2)], order: up)))
    #expect(
      try !plan(c.rank.isIn([1, 2]), [index(1, 2)], order: M.all.order(by: \.ratio)).isOrdered
    )
  }

  @Test func `an index is used for order only with a limit or without a condition`() throws {
    let c = Self.columns
    let order = M.all.order(by: \.rank)
    #expect(isWalk(try plan(.all, [index(1)], order: order)))
    #expect(isWalk(try plan(c.name.contains("a"), [index(1)], order: order, isLimited: true)))
    #expect(try plan(c.name.contains("a"), [index(1)], order: order).access == .scan)
    #expect(try plan(.all, [], order: order).isOrdered == false)
    #expect(try plan(.all, [index(1)]).access == .scan)
  }

  // MARK: Candidates

  @Test(arguments: [11, 12, 13, UInt64.random(in: 14 ... .max)])
  func `the candidates of every random plan include every match`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<4_000 {
      let condition = Condition<M>.random(&random, depth: Int.random(in: 0...3, using: &random))
      let shapes = (0..<Int.random(in: 1...4, using: &random)).map { _ in shape(&random) }
      var order = RandomOrder<M>(M.all)
      if random.chance(50) { order.addRandom(&random) }
      var planner = QueryPlanner(indexes: shapes)
      if random.chance(50) { planner.primaryKeyPosition = 0 }
      let planned = planner.plan(
        condition.filter.node,
        order: order.query.sortOrder ?? .stored,
        isLimited: random.chance(50)
      )
      for number in 0..<6 {
        let row = random.row(number)
        let isCandidate = isCandidate(row, planned.access, shapes)
        let isMatch = condition.test(row)
        if isMatch ? !isCandidate : planned.isExact && isCandidate {
          Issue.record("seed \(seed), round \(round): \(row) and \(condition.text): \(planned)")
        }
      }
    }
  }

  private func shape(_ random: inout SplitMix64) -> IndexShape {
    var positions: [Int] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let position = Int.random(in: 1...13, using: &random)
      let hasCollection = positions.contains { $0 >= 12 } && position >= 12
      if !positions.contains(position), !hasCollection { positions.append(position) }
    }
    return IndexShape(
      parts: positions.map { IndexShape.Part(position: $0, isCollection: $0 >= 12) },
      isUnique: false,
      maximumContentSize: random.element([100, 150, 240, 440])
    )
  }

  private func isCandidate(_ row: Row, _ access: Access, _ shapes: [IndexShape]) -> Bool {
    func isIn(_ path: AccessPath) -> Bool {
      keys(of: row, shapes[path.index]).contains { key in
        path.ranges.contains { range in
          !key.lexicographicallyPrecedes(range.lower)
            && (range.upper.map { key.lexicographicallyPrecedes($0) } ?? true)
        }
      }
    }
    switch access {
    case .nothing: return false
    case .scan, .columns: return true
    case .primaryKeys(let keys): return keys.contains(row.id.storedBytes)
    case .ordered(let path, _): return isIn(path)
    case .shortest(let paths): return paths.allSatisfy(isIn)
    case .union(let paths): return paths.contains(where: isIn)
    }
  }

  /// Returns the index keys of a row, computed from its values.
  private func keys(of row: Row, _ shape: IndexShape) -> [[UInt8]] {
    var keys: [[UInt8]] = [[]]
    for part in shape.parts {
      let parts = partKeys(row, part.position ?? 0, shape.maximumContentSize)
      keys = keys.flatMap { key in parts.map { key + $0 } }
    }
    return keys.map { KeyEncoding.append(UInt64(row.id), to: $0) }
  }

  private func partKeys(_ row: Row, _ position: Int, _ longest: Int) -> [[UInt8]] {
    func key(_ value: (some FieldValue)?) -> [UInt8] {
      value.map { KeyEncoding.key(for: $0, maximumContentSize: longest) } ?? KeyEncoding.null
    }
    return switch position {
    case 1: [key(row.rank)]
    case 2: [key(row.ratio)]
    case 3: [key(row.flag)]
    case 4: [key(row.level)]
    case 5: [key(row.name)]
    case 6: [key(row.nick)]
    case 7: [key(row.date)]
    case 8: [key(row.uuid)]
    case 9: [key(row.colour)]
    case 10: [key(row.priority)]
    case 11: [key(row.data)]
    case 12: row.tags.map { key($0) }
    default: row.marks.map { key($0) }
    }
  }
}

extension Access {
  /// The number of primary keys that are looked up, or `nil` for another access path.
  fileprivate var keyCount: Int? {
    if case .primaryKeys(let keys) = self { return keys.count }
    return nil
  }
}
