import ObjectStore
import TestSupport
import Testing

@Suite struct OptionalCollectionTests {
  private struct Listed: Model {
    struct Columns: Sendable {
      let id = Column<Listed, Int>(position: 0)
      let tags = Column<Listed, Set<String>?>(position: 1)
    }

    static var columns: Columns { Columns() }
    static let schema = ModelSchema(
      name: "Listed",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("tags", Set<String>.self, isOptional: true, isIndexed: true),
      ]
    )

    var id: Int
    var tags: Set<String>?
    var primaryKey: Int { id }

    init(id: Int, tags: Set<String>?) {
      self.id = id
      self.tags = tags
    }

    init(from record: borrowing RecordView) throws(RecordError) {
      id = try record.value(at: 0)
      tags = try record.optional(at: 1)
    }

    func encode(to record: inout RecordEncoder) {
      record.encode(id)
      record.encode(tags)
    }
  }

  @Test func `a nil collection matches no condition on elements`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [Listed.self])
    try store.write { tx in
      let all: [Set<String>?] = [nil, [], ["a"], ["a", "b"], ["ab"]]
      for (id, tags) in all.enumerated() {
        try tx.insert(Listed(id: id, tags: tags))
      }
    }
    func ids(_ condition: (Listed.Columns) -> Filter<Listed>) throws -> [Int] {
      try store.read { try $0.fetch(Listed.where(condition)).map(\.id) }
    }
    #expect(try ids { $0.tags.contains("a") } == [2, 3])
    #expect(try ids { $0.tags.any { $0.hasPrefix("a") } } == [2, 3, 4])
    #expect(try ids { $0.tags.all { $0.hasPrefix("a") } } == [1, 2, 4])
    #expect(try ids { $0.tags.isEmpty } == [1])
    #expect(try ids { $0.tags.count < 2 } == [1, 2, 4])
    #expect(try ids { $0.tags == nil } == [0])
    #expect(try ids { $0.tags != nil } == [1, 2, 3, 4])
    #expect(try store.read { try $0.explain(Listed.where { $0.tags.contains("a") }).isExact })
  }
}
