import Foundation
import ObjectStore
import TestSupport

/// A random condition, as a store filter and as a Swift closure.
struct Condition<M: SampleModel> {
  var filter: Filter<M>
  var test: (Row) -> Bool
  var text: String

  init(_ text: String, _ filter: Filter<M>, _ test: @escaping (Row) -> Bool) {
    self.filter = filter
    self.test = test
    self.text = text
  }

  static func random(_ random: inout SplitMix64, depth: Int) -> Condition {
    guard depth > 0 else { return leaf(&random) }
    let left = self.random(&random, depth: depth - 1)
    let right = self.random(&random, depth: Int.random(in: 0..<depth, using: &random))
    switch Int.random(in: 0..<7, using: &random) {
    case 0...2:
      return Condition("(\(left.text) && \(right.text))", left.filter && right.filter) {
        left.test($0) && right.test($0)
      }
    case 3...5:
      return Condition("(\(left.text) || \(right.text))", left.filter || right.filter) {
        left.test($0) || right.test($0)
      }
    default:
      return Condition("!(\(left.text))", !left.filter) { !left.test($0) }
    }
  }

  private static func leaf(_ random: inout SplitMix64) -> Condition {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40: number(&random)
    case 40..<65: text(&random)
    case 65..<80: other(&random)
    case 80..<99: collection(&random)
    default: Condition("none or all", .none || Filter<M>.all) { _ in true }
    }
  }

  private static func number(_ random: inout SplitMix64) -> Condition {
    let column = M.columns
    let rank = random.element(Samples.ranks)
    let other = random.element(Samples.ranks)
    let ratio = random.element(Samples.ratios)
    let level = random.element(Samples.levels)
    let date = random.element(Samples.dates)
    let seconds = date.timeIntervalSinceReferenceDate
    let (low, high) = (min(rank, other), max(rank, other))
    switch Int.random(in: 0..<27, using: &random) {
    case 0: return Condition("rank == \(rank)", column.rank == rank) { $0.rank == rank }
    case 1: return Condition("rank != \(rank)", column.rank != rank) { $0.rank != rank }
    case 2: return Condition("rank < \(rank)", column.rank < rank) { $0.rank < rank }
    case 3: return Condition("rank <= \(rank)", column.rank <= rank) { $0.rank <= rank }
    case 4: return Condition("rank > \(rank)", column.rank > rank) { $0.rank > rank }
    case 5: return Condition("rank >= \(rank)", column.rank >= rank) { $0.rank >= rank }
    case 6:
      return Condition("rank in \(low)...\(high)", column.rank.isIn(low...high)) {
        (low...high).contains($0.rank)
      }
    case 7:
      return Condition("rank in \(low)..<\(high)", column.rank.isIn(low..<high)) {
        (low..<high).contains($0.rank)
      }
    case 8:
      return Condition("rank between \(rank) \(other)", column.rank.between(rank, other)) {
        $0.rank >= rank && $0.rank <= other
      }
    case 9:
      return Condition("rank in [\(rank), \(other), 7]", column.rank.isIn([rank, other, 7])) {
        [rank, other, 7].contains($0.rank)
      }
    case 10: return Condition("rank in []", column.rank.isIn([] as [Int])) { _ in false }
    case 11:
      return Condition("ratio == \(ratio)", column.ratio == ratio) { $0.ratio == ratio }
    case 12:
      return Condition("ratio != \(ratio)", column.ratio != ratio) { row in
        row.ratio.map { $0 != ratio } ?? false
      }
    case 13:
      return Condition("ratio < \(ratio)", column.ratio < ratio) { row in
        row.ratio.map { $0 < ratio } ?? false
      }
    case 14:
      return Condition("ratio <= \(ratio)", column.ratio <= ratio) { row in
        row.ratio.map { $0 <= ratio } ?? false
      }
    case 15:
      return Condition("ratio > \(ratio)", column.ratio > ratio) { row in
        row.ratio.map { $0 > ratio } ?? false
      }
    case 16:
      return Condition("ratio >= \(ratio)", column.ratio >= ratio) { row in
        row.ratio.map { $0 >= ratio } ?? false
      }
    case 17:
      return Condition("ratio in [0, \(ratio)]", column.ratio.isIn([0, ratio])) { row in
        row.ratio.map { [0, ratio].contains($0) } ?? false
      }
    case 18: return Condition("level == \(level)", column.level == level) { $0.level == level }
    case 19: return Condition("level == nil", column.level == nil) { $0.level == nil }
    case 20: return Condition("level != nil", column.level != nil) { $0.level != nil }
    case 21: return Condition("level != \(level)", column.level != level) { $0.level != level }
    case 22:
      return Condition("level in ..<\(level)", column.level.isIn(..<level)) { row in
        row.level.map { $0 < level } ?? false
      }
    case 23:
      // A NaN date is neither before nor after another date, as with numbers.
      return Condition("date >= \(seconds)", column.date >= date) { row in
        row.date.map { $0.timeIntervalSinceReferenceDate >= seconds } ?? false
      }
    case 24: return Condition("date == \(seconds)", column.date == date) { $0.date == date }
    case 25:
      let ids = [rank & 15, other & 15, -1]
      return Condition("id in \(ids)", column.id.isIn(ids)) { ids.contains($0.id) }
    default:
      return Condition("id in \(low & 15)...40", column.id.isIn((low & 15)...40)) {
        ((low & 15)...40).contains($0.id)
      }
    }
  }

  private static func isBefore(_ left: String, _ right: String) -> Bool {
    left.compareBytes(to: right) < 0
  }

  private static func isEqual(_ left: String, _ right: String) -> Bool {
    left.compareBytes(to: right) == 0
  }

  private static func text(_ random: inout SplitMix64) -> Condition {
    let column = M.columns
    let name = random.element(Samples.names)
    let part = random.chance(50) ? random.element(["", "a", "b", "k", "\0", "É", "ss"]) : name
    let short = "\(name.utf8.count):\(name.suffix(3).debugDescription)"
    let (folded, foldedName) = (part.lowercased(), name.lowercased())
    switch Int.random(in: 0..<18, using: &random) {
    case 0, 1:
      return Condition("name == \(short)", column.name == name) { isEqual($0.name, name) }
    case 2: return Condition("name != \(short)", column.name != name) { !isEqual($0.name, name) }
    case 3: return Condition("name < \(short)", column.name < name) { isBefore($0.name, name) }
    case 4: return Condition("name <= \(short)", column.name <= name) { !isBefore(name, $0.name) }
    case 5: return Condition("name > \(short)", column.name > name) { isBefore(name, $0.name) }
    case 6: return Condition("name >= \(short)", column.name >= name) { !isBefore($0.name, name) }
    case 7:
      // Few values are compared one by one, and many with a binary search.
      let others = random.chance(50) ? (0..<10).map { "\(part)\($0)" } : []
      let values = [name, "a"] + others
      return Condition(
        "name in [\(short), a] and \(others.count) others",
        column.name.isIn(values)
      ) { row in values.contains { isEqual(row.name, $0) } }
    case 8:
      return Condition("name has prefix \(short)", column.name.hasPrefix(name)) {
        $0.name.hasBytePrefix(name)
      }
    case 9:
      return Condition("name has suffix \(part.debugDescription)", column.name.hasSuffix(part)) {
        $0.name.hasByteSuffix(part)
      }
    case 10:
      return Condition("name has \(part.debugDescription)", column.name.contains(part)) {
        $0.name.containsBytes(part)
      }
    case 11:
      return Condition(
        "name has \(part.debugDescription) in any case",
        column.name.contains(part, .caseInsensitive)
      ) { $0.name.lowercased().containsBytes(folded) }
    case 12:
      return Condition(
        "name is \(short) in any case",
        column.name.equals(name, .caseInsensitive)
      ) { isEqual($0.name.lowercased(), foldedName) }
    case 13:
      return Condition("nick == \(short)", column.nick == name) { row in
        row.nick.map { isEqual($0, name) } ?? false
      }
    case 14: return Condition("nick == nil", column.nick == nil) { $0.nick == nil }
    case 15: return Condition("nick != nil", column.nick != nil) { $0.nick != nil }
    case 16:
      return Condition("nick has prefix \(short)", column.nick.hasPrefix(name)) { row in
        row.nick.map { $0.hasBytePrefix(name) } ?? false
      }
    default:
      return Condition("nick >= \(short)", column.nick >= name) { row in
        row.nick.map { !isBefore($0, name) } ?? false
      }
    }
  }

  private static func other(_ random: inout SplitMix64) -> Condition {
    let column = M.columns
    let colour = random.element(Colour.allCases)
    let priority = random.element(Priority.allCases)
    let uuid = random.element(Samples.uuids)
    let data = random.element(Samples.datas)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return Condition("flag", column.flag == true) { $0.flag }
    case 1: return Condition("not flag", column.flag != true) { !$0.flag }
    case 2, 3:
      return Condition("colour == \(colour)", column.colour == colour) { $0.colour == colour }
    case 4:
      return Condition("priority < \(priority)", column.priority < priority) {
        $0.priority < priority
      }
    case 5:
      return Condition("priority == \(priority)", column.priority == priority) {
        $0.priority == priority
      }
    case 6: return Condition("uuid == \(uuid)", column.uuid == uuid) { $0.uuid == uuid }
    case 7: return Condition("uuid < \(uuid)", column.uuid < uuid) { $0.uuid < uuid }
    case 8: return Condition("data == \(data.count)", column.data == data) { $0.data == data }
    default:
      return Condition("rank is odd", column.rank.satisfies { $0 & 1 == 1 }) { $0.rank & 1 == 1 }
    }
  }

  private static func collection(_ random: inout SplitMix64) -> Condition {
    let column = M.columns
    let tag = random.element(Samples.tags)
    let mark = random.element(Samples.ratios)
    let count = Int.random(in: 0...3, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2:
      return Condition("tags has \(tag.prefix(3))", column.tags.contains(tag)) {
        $0.tags.contains { isEqual($0, tag) }
      }
    case 3:
      return Condition("marks has \(mark)", column.marks.contains(mark)) { $0.marks.contains(mark) }
    case 4:
      return Condition("any mark > \(mark)", column.marks.any { $0 > mark }) {
        $0.marks.contains { $0 > mark }
      }
    case 5:
      return Condition("every mark <= \(mark)", column.marks.all { $0 <= mark }) {
        $0.marks.allSatisfy { $0 <= mark }
      }
    case 6:
      return Condition("any mark in -1...\(mark)", column.marks.any { $0 >= -1 && $0 < mark }) {
        $0.marks.contains { $0 >= -1 && $0 < mark }
      }
    case 7:
      return Condition(
        "any tag begins with a or is empty",
        column.tags.any { $0.hasPrefix("a") || $0 == "" }
      ) {
        $0.tags.contains { $0.utf8.starts(with: "a".utf8) || $0.isEmpty }
      }
    case 8: return Condition("tags.isEmpty", column.tags.isEmpty) { $0.tags.isEmpty }
    case 9:
      return Condition("marks.count >= \(count)", column.marks.count >= count) {
        $0.marks.count >= count
      }
    case 10:
      return Condition("tags.count != \(count)", column.tags.count != count) {
        $0.tags.count != count
      }
    default: return Condition("data.isEmpty", column.data.isEmpty) { $0.data.isEmpty }
    }
  }
}
