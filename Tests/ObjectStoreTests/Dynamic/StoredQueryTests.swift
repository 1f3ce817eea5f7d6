import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Lookups and conditions on objects without their Swift types.
@Suite struct StoredQueryTests {
  private let folder: TemporaryFolder
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    let typed = try Store(at: folder.path, models: [NewNote.self, Ticket.self])
    try typed.write { tx in
      for id in 1...200 {
        try tx.insert(Ticket(id: id, seat: "seat \(id)", row: id % 9))
        let tags: Set = ["t\(id % 3)", "t\(id % 5)"]
        let link = id % 4 == 0 ? String(repeating: "long ", count: 200) + "\(id % 8)" : nil
        try tx.insert(
          NewNote(id: id, stars: id % 7, tags: tags, text: "text \(id)", size: 1, link: link)
        )
      }
    }
    store = typed
  }

  private func ids(
    _ model: String,
    _ conditions: (String, StoredCondition.Test)...
  ) throws -> [Int64] {
    let fields = try #require(try store.storedModels().first { $0.name == model }).fields
    let conditions = try conditions.map { name, test in
      let field = try #require(fields.first { $0.name == name })
      return StoredCondition(fieldID: field.id, test: test)
    }
    var ids: [Int64] = []
    try store.forEachStoredObject(of: model, where: conditions) { object in
      if case .signed(let id) = object["id"] { ids.append(id) }
      return true
    }
    return ids
  }

  @Test func `an object is found by its primary key`() throws {
    for id: Int64 in [1, 77, 200] {
      #expect(try store.storedObject(of: "Ticket", key: .signed(id))?["id"] == .signed(id))
    }
    #expect(try store.storedObject(of: "Ticket", key: .signed(201)) == nil)
    func code(_ model: String, _ key: StoredValue) -> StoreError.Code? {
      do {
        _ = try store.storedObject(of: model, key: key)
        return nil
      } catch {
        return (error as? StoreError)?.code
      }
    }
    #expect(code("Ticket", .string("1")) == .invalidInput)
    #expect(code("Ticket", .null) == .invalidInput)
    #expect(code("Tickets", .signed(1)) == .unknownModel)
  }

  @Test func `conditions give the same objects with and without an index`() throws {
    let all = Array(1...200 as ClosedRange<Int64>)
    #expect(try ids("Ticket") == all)
    // Unique index, no index, compound index alone.
    #expect(try ids("Ticket", ("seat", .equals(.string("seat 42")))) == [42])
    #expect(try ids("Ticket", ("row", .equals(.signed(4)))) == all.filter { $0 % 9 == 4 })
    #expect(
      try ids("Ticket", ("seat", .equals(.string("seat 4"))), ("row", .equals(.signed(5)))) == []
    )
    #expect(
      try ids("Note", ("tags", .contains(.string("t1"))))
        == all.filter { $0 % 3 == 1 || $0 % 5 == 1 }
    )
    #expect(try ids("Note", ("tags", .contains(.string("none")))) == [])
    #expect(
      try ids("Note", ("stars", .equals(.signed(3))), ("tags", .contains(.string("t4"))))
        == all.filter { $0 % 7 == 3 && $0 % 5 == 4 }
    )
    #expect(try ids("Note", ("link", .equals(.null))) == all.filter { $0 % 4 != 0 })
    let long = String(repeating: "long ", count: 200)
    #expect(try ids("Note", ("link", .equals(.string(long + "4")))) == all.filter { $0 % 8 == 4 })
    #expect(try ids("Note", ("text", .isDate(.distantPast ..< .distantFuture))) == [])
  }

  @Test func `comparisons find the same objects with and without an index`() throws {
    let all = Array(1...200 as ClosedRange<Int64>)
    let long = String(repeating: "x", count: 600)
    // Longer than a key of an index can be, so that the keys end with a hash.
    let other = folder.path("long")
    let store = try Store(at: other, models: [Ticket.self])
    let seats = ["", "a", "a\0", "a\0b", "b", long, long + "a", long + "b", long + "\0", "y", "é"]
    try store.write { tx in
      for (row, seat) in seats.enumerated() {
        try tx.insert(Ticket(id: row + 1, seat: seat, row: row))
      }
    }
    let model = try #require(try store.storedModels().first)
    let field = try #require(model.fields.first { $0.name == "seat" })
    func found(_ test: StoredCondition.Test) throws -> [String] {
      var found: [String] = []
      let condition = StoredCondition(fieldID: field.id, test: test)
      try store.forEachStoredObject(of: "Ticket", where: [condition]) { object in
        if case .string(let text) = object["seat"] { found.append(text) }
        return true
      }
      #expect(try store.countStoredObjects(of: "Ticket", where: [condition]) == found.count)
      return found
    }
    func precedes(_ one: String, _ other: String) -> Bool {
      one.utf8.lexicographicallyPrecedes(other.utf8)
    }
    for value in seats + [long + "aa", "z", "e\u{301}"] {
      func expect(_ comparison: StoredCondition.Comparison, _ isIncluded: (String) -> Bool) throws {
        #expect(
          try found(.compares(comparison, .string(value))) == seats.filter(isIncluded),
          "\(comparison) \(value.utf8.count)"
        )
      }
      try expect(.less) { precedes($0, value) }
      try expect(.lessOrEqual) { !precedes(value, $0) }
      try expect(.greater) { precedes(value, $0) }
      try expect(.greaterOrEqual) { !precedes($0, value) }
      #expect(
        try found(.hasPrefix(value)) == seats.filter { $0.utf8.starts(with: value.utf8) },
        "\(value.utf8.count)"
      )
    }
    #expect(try found(.containsText("\0")) == ["a\0", "a\0b", long + "\0"])
    #expect(try found(.not(.equals(.string("e\u{301}")))) == seats)
    // Indexed numbers, and ones without an index.
    for bound in [-1, 0, 3, 6, 7] as [Int64] {
      for (name, value) in [("stars", { $0 % 7 }), ("id", { $0 })] as [(String, (Int64) -> Int64)] {
        #expect(
          try ids("Note", (name, .compares(.less, .signed(bound))))
            == all.filter { value($0) < bound }
        )
        #expect(
          try ids("Note", (name, .compares(.greaterOrEqual, .signed(bound))))
            == all.filter { value($0) >= bound }
        )
      }
    }
    #expect(try ids("Note", ("link", .not(.equals(.null)))) == all.filter { $0 % 4 == 0 })
    #expect(try ids("Note", ("link", .not(.hasPrefix("long")))) == [])
    #expect(try ids("Note", ("stars", .compares(.less, .string("9")))) == [])
  }

  @Test func `comparisons of numbers and dates treat NaN and zeros as Swift does`() {
    func matches(
      _ stored: StoredValue,
      _ comparison: StoredCondition.Comparison,
      _ value: StoredValue
    )
      -> Bool
    {
      StoredCondition.Test.compares(comparison, value).matches(stored)
    }
    for comparison in StoredCondition.Comparison.allCases {
      #expect(!matches(.double(.nan), comparison, .double(1)))
      #expect(!matches(.decimal(.nan), comparison, .decimal(1)))
      #expect(!matches(.null, comparison, .signed(1)))
      #expect(!matches(.array([.signed(1)]), comparison, .array([.signed(2)])))
    }
    #expect(matches(.double(-0.0), .greaterOrEqual, .double(0)))
    #expect(!matches(.float(-0.0), .less, .float(0)))
    #expect(matches(.unsigned(.max), .greater, .unsigned(1)))
    #expect(matches(.bool(false), .less, .bool(true)))
    #expect(matches(.data(Data([1])), .less, .data(Data([1, 0]))))
    #expect(matches(.decimal(1.5), .greater, .decimal(1.25)))
  }

  @Test(arguments: [1, 3, 1_000])
  func `objects that are visited in parts are those of one visit`(count: Int) throws {
    let model = try #require(try store.storedModels().first { $0.name == "Ticket" })
    let row = try #require(model.fields.first { $0.name == "row" })
    let condition = StoredCondition(fieldID: row.id, test: .equals(.signed(3)))
    for conditions in [[], [condition]] {
      var ids: [UInt64] = []
      var next: UInt64? = 0
      while let start = next {
        var found = 0
        next = try store.visitStoredObjects(
          of: "Ticket",
          where: conditions,
          from: start,
          testing: count
        ) { object in
          ids.append(object.id)
          found += 1
          return found < 2
        }
        #expect(found <= min(count, 2))
      }
      var all: [UInt64] = []
      try store.forEachStoredObject(of: "Ticket", where: conditions) { object in
        all.append(object.id)
        return true
      }
      #expect(ids == all && !ids.isEmpty)
    }
  }

  @Test func `sorted objects are visited in parts, without those that have gone`() throws {
    let model = try #require(try store.storedModels().first { $0.name == "Ticket" })
    let row = try #require(model.fields.first { $0.name == "row" })
    let order = StoredOrder(fieldID: row.id, direction: .descending)
    let condition = StoredCondition(fieldID: row.id, test: .compares(.greater, .signed(6)))
    var all: [UInt64] = []
    try store.forEachStoredObject(of: "Ticket", where: [condition], order: order) { object in
      all.append(object.id)
      return true
    }
    func sorted(_ limit: Int) throws -> [UInt64] {
      try store.storedObjectIDs(of: "Ticket", where: [condition], order: order, limit: limit)
    }
    #expect(all.count == 44)
    #expect(try sorted(.max) == all)
    #expect(try sorted(10) == Array(all.prefix(10)))
    // It is in row 8.
    try store.write { tx in _ = try tx.delete(Ticket.self, key: 17) }
    var seen: [UInt64] = []
    var rest = all[...]
    while !rest.isEmpty {
      var found = 0
      let count = try store.visitStoredObjects(of: "Ticket", where: [condition], withIDs: rest) {
        seen.append($0.id)
        found += 1
        return found < 7
      }
      rest = rest.dropFirst(count)
    }
    #expect(seen.count == 43)
    #expect(seen == all.filter(seen.contains))
  }

  @Test func `a count ends at its limit`() throws {
    let model = try #require(try store.storedModels().first { $0.name == "Ticket" })
    let row = try #require(model.fields.first { $0.name == "row" })
    for conditions in [[], [StoredCondition(fieldID: row.id, test: .equals(.signed(1)))]] {
      let all = conditions.isEmpty ? 200 : 23
      for (limit, count) in [(0, 0), (1, 1), (20, 20), (all, all), (Int.max, all)] {
        let found = try store.countStoredObjects(of: "Ticket", where: conditions, limit: limit)
        #expect(found == count)
      }
    }
  }

  @Test func `the search ends when the closure says so`() throws {
    let model = try #require(try store.storedModels().first { $0.name == "Ticket" })
    let row = try #require(model.fields.first { $0.name == "row" })
    for conditions in [[], [StoredCondition(fieldID: row.id, test: .equals(.signed(1)))]] {
      var count = 0
      try store.forEachStoredObject(of: "Ticket", where: conditions) { _ in
        count += 1
        return count < 3
      }
      #expect(count == 3)
    }
  }

  // MARK: Order

  private func sorted(
    _ model: String,
    by name: String,
    _ direction: SortDirection,
    limit: Int = .max,
    where conditions: [StoredCondition] = [],
    in store: Store
  ) throws -> [Int64] {
    let fields = try #require(try store.storedModels().first { $0.name == model }).fields
    let field = try #require(fields.first { $0.name == name })
    var ids: [Int64] = []
    try store.forEachStoredObject(
      of: model,
      where: conditions,
      order: StoredOrder(fieldID: field.id, direction: direction),
      limit: limit
    ) { object in
      if case .signed(let id) = object["id"] { ids.append(id) }
      return true
    }
    return ids
  }

  @Test(arguments: [nil, 0, 1, 5, 1_000])
  func `the first objects of an order are those of a stable sort`(limit: Int?) throws {
    let all = Array(1...200 as ClosedRange<Int64>)
    let limit = limit ?? .max
    func sorted(_ name: String, _ direction: SortDirection) throws -> [Int64] {
      try self.sorted("Ticket", by: name, direction, limit: limit, in: store)
    }
    func stable(_ key: (Int64) -> Int64) -> [Int64] {
      all.sorted { (key($0), $0) < (key($1), $1) }
    }
    #expect(try sorted("row", .ascending) == stable { $0 % 9 }.prefix(limit).map { $0 })
    #expect(try sorted("row", .descending) == stable { -($0 % 9) }.prefix(limit).map { $0 })
    let seats = all.sorted { "seat \($0)" < "seat \($1)" }
    #expect(try sorted("seat", .ascending) == seats.prefix(limit).map { $0 })
    #expect(try sorted("seat", .descending) == seats.reversed().prefix(limit).map { $0 })
  }

  @Test func `an order applies to the matches of conditions, and missing values come last`() throws
  {
    let fields = try #require(try store.storedModels().first { $0.name == "Note" }).fields
    let tags = try #require(fields.first { $0.name == "tags" })
    let condition = StoredCondition(fieldID: tags.id, test: .contains(.string("t1")))
    let matches = (1...200 as ClosedRange<Int64>).filter { $0 % 3 == 1 || $0 % 5 == 1 }
    let hasLink = matches.filter { $0 % 4 == 0 }
    let missing = matches.filter { $0 % 4 != 0 }
    func links(_ direction: SortDirection) throws -> [Int64] {
      try sorted("Note", by: "link", direction, where: [condition], in: store)
    }
    #expect(try links(.ascending) == hasLink.sorted { ($0 % 8, $0) < ($1 % 8, $1) } + missing)
    #expect(
      try links(.descending) == hasLink.sorted { (-($0 % 8), $0) < (-($1 % 8), $1) } + missing
    )
  }

  @Test func `values of every type are ordered`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [Everything.self])
    var less = Everything()
    less.id = 1
    var greater = Everything()
    greater.id = 2
    greater.flag = true
    (less.tiny, greater.tiny) = (-1, 1)
    greater.small = .max
    greater.count = .max
    (less.ratio, greater.ratio) = (1, .nan)
    (less.score, greater.score) = (.infinity, -.nan)
    (less.date, greater.date) = (.distantPast, .distantFuture)
    greater.uuid = UUID()
    (less.text, greater.text) = ("A", "a\0")
    (less.bytes, greater.bytes) = (Data([1]), Data([1, 0]))
    (less.list, greater.list) = (["b"], ["b", ""])
    (less.tags, greater.tags) = (["a"], ["b"])
    (less.map, greater.map) = (["a": 2], ["b": 1])
    (less.received, greater.received) = (-1, 1)
    (less.age, greater.age) = (0, nil)
    try store.write { [less, greater] tx in
      try tx.insert(greater)
      try tx.insert(less)
    }
    let names = [
      "id", "flag", "tiny", "small", "count", "ratio", "score", "date", "uuid", "text", "bytes",
      "list", "tags", "map", "received",
    ]
    for name in names {
      #expect(try sorted("Everything", by: name, .ascending, in: store) == [1, 2], "\(name)")
      #expect(try sorted("Everything", by: name, .descending, in: store) == [2, 1], "\(name)")
    }
    #expect(try sorted("Everything", by: "age", .ascending, in: store) == [1, 2])
    #expect(try sorted("Everything", by: "age", .descending, in: store) == [1, 2])
    // Equal values keep the order of insertion.
    #expect(try sorted("Everything", by: "note", .descending, in: store) == [2, 1])
  }
}
