import ObjectStore
import TestSupport
import Testing

/// Tests writes of single fields in a model whose primary key repeats other fields.
@Suite struct CompoundKeyTests {
  private struct RouteKey: FieldValue, Hashable {
    var number: Int
    var stops: [Reference<City>]

    static var fieldType: FieldType { .data }

    init(number: Int, stops: [Reference<City>]) {
      self.number = number
      self.stops = stops
    }

    init(from reader: inout ByteReader) throws(RecordError) {
      number = try reader.readField()
      stops = try reader.readField()
    }

    func encode(to writer: inout ByteWriter) {
      writer.writeField(number)
      writer.writeField(stops)
    }
  }

  private struct Route: Model, Equatable {
    struct Columns: Sendable {
      let number = Column<Route, Int>(position: 0)
      let stops = Column<Route, [Reference<City>]>(position: 1)
      let text = Column<Route, String>(position: 2)
      let key = Column<Route, RouteKey>(position: 3)
    }

    static let columns = Columns()
    static let schema = ModelSchema(
      name: "Route",
      fields: [
        FieldSchema("number", Int.self),
        FieldSchema("stops", [Reference<City>].self, onDelete: .nullify),
        FieldSchema("text", String.self),
        FieldSchema("key", RouteKey.self, isPrimaryKey: true),
      ]
    )

    var number: Int
    var stops: [Reference<City>]
    var text: String
    var primaryKey: RouteKey { RouteKey(number: number, stops: stops) }

    init(number: Int, stops: [Reference<City>], text: String) {
      self.number = number
      self.stops = stops
      self.text = text
    }

    init(from record: borrowing RecordView) throws(RecordError) {
      number = try record.value(at: 0)
      stops = try record.value(at: 1)
      text = try record.value(at: 2)
    }

    func encode(to record: inout RecordEncoder) {
      record.encode(number)
      record.encode(stops)
      record.encode(text)
      record.encode(primaryKey)
    }
  }

  private let folder: TemporaryFolder
  private let store: Store
  private let route = Route(number: 1, stops: [Reference("a"), Reference("b")], text: "old")

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.open(Route.self)
    try store.write { [route] tx in
      for name in ["a", "b"] { try tx.insert(City(name)) }
      try tx.insert(route)
    }
  }

  @Test func `an edit of a field that the primary key repeats throws keyChanged`() throws {
    let error = #expect(throws: StoreError.self) {
      try store.write { tx in
        _ = try tx.edit(Route.self, key: route.primaryKey) { $0.set(\.number, to: 2) }
      }
    }
    #expect(error?.code == .keyChanged)
    #expect(try store.read { try $0.fetch(Route.all) } == [route])
  }

  @Test func `an edit of other fields keeps a compound key`() throws {
    try store.write { tx in
      _ = try tx.edit(Route.self, key: route.primaryKey) { editor in
        editor.set(\.number, to: 1)
        editor.set(\.text, to: "new")
      }
    }
    let found = try store.read { try $0.find(Route.self, key: route.primaryKey) }
    #expect(found == Route(number: 1, stops: route.stops, text: "new"))
  }

  @Test func `a reference that the primary key repeats is not removed`() throws {
    let error = #expect(throws: StoreError.self) {
      try store.write { tx in _ = try tx.delete(City.self, key: "a") }
    }
    #expect(error?.code == .referenced)
    #expect(error?.message.contains("City 'a' cannot be deleted") == true)
    try store.read { tx throws in
      #expect(try tx.fetch(Route.all) == [route])
      #expect(try tx.contains(City.self, key: "a"))
    }
  }
}
