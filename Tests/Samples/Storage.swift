// What the samples of ObjectStore stand in: models, a store, and parts of a program.
import Foundation
import ObjectStore
import ObjectStoreModel

/// Returns a value that the text around a sample has.
func some<Value>() -> Value { fatalError("samples are only compiled") }

@Model struct Author: Equatable {
  @PrimaryKey var id: Int
  @Indexed var name: String
  var born: Int?
}

enum Genre: String, FieldValue { case novel, poetry, science }

@Model struct Book: Equatable {
  @PrimaryKey var isbn: String
  @Indexed var title: String
  @OnDelete(.deny) var author: Reference<Author>
  var genre: Genre = .novel
  var year: Int
  var tags: Set<String> = []
  @Hot var copies: Int = 1
  var price: Decimal?
}

@Model struct Loan {
  @PrimaryKey var id: Int
  var book: Reference<Book>
  var due: Date
}

@Model struct Note: Equatable {
  @PrimaryKey var id: Int64
  var title: String = ""
  var text: String
  var rank: Int = 0
  var nick: String?
  var tags: Set<String> = []
  var isPinned: Bool = false
}

@Model struct Download {
  @PrimaryKey var url: String
  var received: Int64
}

@Model struct Tag {
  @PrimaryKey var name: String
  var isPublic: Bool
}
@Model struct Customer { @PrimaryKey var id: Int }
@Model struct Courier { @PrimaryKey var id: Int }
@Model struct Article { @PrimaryKey var id: Int }
@Model struct Voucher { @PrimaryKey var id: Int }
@Model struct Order {
  @PrimaryKey var number: Int
  var customer: Reference<Customer>
  var tags: Set<Reference<Tag>> = []
}
@Model struct OrderLine {
  @PrimaryKey var id: Int
  var order: Reference<Order>
}

struct Point: Sendable, Hashable { var x: Int, y: Int }

struct SearchIndex {
  mutating func add<Object>(_ object: Object) {}
  mutating func update<Object>(_ object: Object) {}
  mutating func remove<Key>(_ key: Key) {}
  mutating func rebuild<Object>(from objects: [Object]) {}
}

struct Rows {
  func load(_ rows: some Collection) {}
  func remove(at positions: some Collection<Int>) {}
  func insert(_ rows: some Collection, at positions: some Collection<Int>) {}
  func reload(_ rows: some Collection, at positions: some Collection<Int>) {}
  func update(_ rows: some Collection, _ changes: [Int]...) {}
}

var store: Store { some() }
var copy: Store { some() }
var folder: String { some() }
var file: String { some() }
var rescued: String { some() }
var token: HistoryToken {
  get { some() }
  set {}
}
var search: SearchIndex {
  get { some() }
  set {}
}
var searchIndex: SearchIndex {
  get { some() }
  set {}
}
var index: SearchIndex {
  get { some() }
  set {}
}
var rows: Rows { some() }
var list: Rows { some() }
var batches: [[Note]] { some() }
var notes: [Int64: Note] {
  get { some() }
  set {}
}
func readAllNotes() throws -> [Int64: Note] { some() }
func apply(_ changes: ObjectChanges<Note>, to notes: inout [Int64: Note]) {}
func show<Value>(_ value: Value) {}
func refresh(_ store: Store) throws {}
var note: Note { some() }
var customer: Customer { some() }
var order: Order { some() }
var lines: [OrderLine] { some() }
var fields: [FieldSchema] { some() }
var field: StoredModel.Field { some() }
var rank: StoredModel.Field { some() }
var isHigh: StoredCondition { some() }
var original: Author { some() }
var edited: Author {
  get { some() }
  set {}
}
var url: String { some() }
var received: Int64 { some() }
var count: Int64 { some() }
enum Third { typealias Note = Samples.Note }
var ratesInNumbers: MigrationStep { some() }
var splitsNames: MigrationStep { some() }
var options: StoreOptions { some() }
