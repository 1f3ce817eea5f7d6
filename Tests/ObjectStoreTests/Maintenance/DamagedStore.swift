import Foundation
import LMDB
import TestSupport

@testable import ObjectStoreCore

/// A store with entries in every table, and methods to damage it.
struct DamagedStore {
  let folder: TemporaryFolder
  var path: String { folder.path("store") }
  static let noteCount = 400

  init() throws {
    folder = try TemporaryFolder()
    let store = try Store(at: path, models: [NewNote.self, Ticket.self])
    try store.write { tx in
      for id in 1...Self.noteCount {
        try tx.insert(
          NewNote(
            id: id,
            stars: id % 7,
            tags: ["t\(id % 3)", "t\(id % 5)"],
            text: "the text of note \(id)",
            size: Int64(id),
            link: id % 4 == 0 ? String(repeating: "long ", count: 1_500) : nil
          )
        )
        try tx.insert(Ticket(id: id, seat: "seat \(id)", row: id % 9))
      }
      for id in stride(from: 10, through: Self.noteCount, by: 10) {
        try tx.delete(NewNote.self, key: id)
      }
    }
    let old = try Store(at: path, models: [OldNote.self])
    try old.write { tx in _ = try tx.update(OldNote.self, key: 3) { $0.text = "older" } }
  }

  func open() throws -> Store { try Store(at: path, models: []) }

  /// Changes a table directly in LMDB.
  func edit(
    _ table: String,
    _ keys: Database.Keys,
    _ body: (inout WriteTransaction, Database) throws -> Void
  ) throws {
    let environment = try Environment.open(path)
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase(table, keys: keys)
    try body(&transaction, database)
    try transaction.commit()
  }

  /// Returns every entry of a table.
  func entries(_ table: String, _ keys: Database.Keys) throws -> [(key: [UInt8], value: [UInt8])] {
    let file = try DataFileReader(path: path + "/data.mdb")
    guard let tree = file.trees()[table] else { return [] }
    var entries: [(key: [UInt8], value: [UInt8])] = []
    file.forEachEntry(of: tree, named: table) { key, value in
      entries.append((key.indices.map { key[$0] }, value.indices.map { value[$0] }))
    }
    return entries
  }

  /// Changes the bytes of the file, which must not be open.
  func editFile(_ body: (inout Data) throws -> Void) throws {
    let url = URL(filePath: path + "/data.mdb")
    var bytes = try Data(contentsOf: url)
    try body(&bytes)
    try bytes.write(to: url)
  }
}

/// A model with a unique index and a compound one.
struct Ticket: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Ticket",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("seat", String.self, isUnique: true),
      FieldSchema("row", Int.self),
    ],
    indexes: [IndexSchema(on: "row", "seat")]
  )

  var id: Int
  var seat: String
  var row: Int
  var primaryKey: Int { id }

  init(id: Int, seat: String, row: Int) {
    self.id = id
    self.seat = seat
    self.row = row
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    seat = try record.value(at: 1)
    row = try record.value(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(seat)
    record.encode(row)
  }
}

/// A model whose records have the same layout as those of ``Ticket``.
struct Coupon: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(name: "Coupon", fields: Ticket.schema.fields)

  private var ticket: Ticket
  var primaryKey: Int { ticket.id }

  init(id: Int, seat: String) {
    ticket = Ticket(id: id, seat: seat, row: 1)
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    ticket = try Ticket(from: record)
  }

  func encode(to record: inout RecordEncoder) {
    ticket.encode(to: &record)
  }
}
