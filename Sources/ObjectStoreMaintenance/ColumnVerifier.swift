internal import LMDB
internal import ObjectStoreCore

/// Checks one column of a model against its records.
///
/// The records are compared in the order of their ids. Afterwards, a pass over the column checks
/// each chunk, and looks for objects without a record if there are more of them than records.
@unsafe
struct ColumnVerifier {
  private let column: ModelTables.Column
  private let transaction: TransactionReference
  private var chunk: (number: UInt64, view: ColumnChunkView?)?
  /// The number of records whose objects are in the column.
  private var foundCount = 0

  init(_ column: ModelTables.Column, _ transaction: TransactionReference) {
    unsafe self.column = column
    unsafe self.transaction = unsafe transaction
  }

  private var name: String { unsafe "column \(column.description.fieldID)" }

  /// Compares the value of an object with that of its record.
  ///
  /// `note` receives each problem.
  mutating func verify(
    _ record: borrowing RecordView,
    _ id: UInt64,
    note: (String) -> Void
  ) throws {
    let expected = unsafe try column.content(in: record)
    // The pass over the column reports a damaged chunk, and chunks are checked as a whole.
    guard let view = unsafe try view(ColumnChunk.number(of: id), note, id) else { return }
    guard let found = unsafe view.content(at: ColumnChunk.slot(of: id)) else {
      return note(unsafe "it is missing in \(name)")
    }
    unsafe foundCount += 1
    let isSame =
      switch unsafe (expected, found) {
      case (.present(let one), .present(let two)): unsafe one.isSame(as: two)
      case (.present, _), (_, .present): false
      default: true
      }
    if !isSame { note(unsafe "its value in \(name) differs from the record") }
  }

  private mutating func view(
    _ number: UInt64,
    _ note: (String) -> Void,
    _ id: UInt64
  ) throws -> ColumnChunkView? {
    if let chunk = unsafe chunk, unsafe chunk.number == number { return unsafe chunk.view }
    let bytes = try unsafe withUnsafeBytes(of: number) { key in
      unsafe try transaction.value(for: key, in: column.database)
    }
    unsafe chunk = unsafe (number, bytes.flatMap { unsafe try? column.view($0, number: number) })
    if unsafe bytes == nil { note(unsafe "\(name) lacks it and its neighbors") }
    return unsafe chunk?.view
  }

  /// Checks every chunk, and each object in them for a record if there are too many.
  ///
  /// `note` receives each problem, and the object that it concerns. `exists` returns whether there
  /// is a record, readable or not.
  func verifyTable(
    note: (String, UInt64?) -> Void,
    exists: (UInt64) throws -> Bool
  ) throws {
    let cursor = unsafe try transaction.cursor(on: column.database)
    var listed = 0
    var entry = unsafe try cursor.first()
    while let found = unsafe entry {
      try Task.checkCancellation()
      if let chunk = unsafe checked(found, note) { unsafe listed += chunk.view.objects.count }
      unsafe entry = unsafe try cursor.next()
    }
    guard unsafe listed != foundCount else { return }
    unsafe entry = unsafe try cursor.first()
    while let found = unsafe entry {
      if let chunk = unsafe checked(found, { _, _ in }) {
        for slot in unsafe chunk.view.objects {
          let id = unsafe ColumnChunk.firstID(of: chunk.number) &+ UInt64(slot)
          if try !exists(id) { note(unsafe "\(name) has a value for it, but it has no record", id) }
        }
      }
      unsafe entry = unsafe try cursor.next()
    }
  }

  private func checked(
    _ entry: Cursor.Entry,
    _ note: (String, UInt64?) -> Void
  ) -> (number: UInt64, view: ColumnChunkView)? {
    guard unsafe entry.key.count == 8 else {
      note(unsafe "a chunk of \(name) has an invalid key", nil)
      return nil
    }
    let number = unsafe entry.key.loadUnaligned(as: UInt64.self)
    do throws(RecordError) {
      let seed = unsafe column.seed(ofChunk: number)
      let view = unsafe try ColumnChunkView(entry.value, seed: seed, width: column.width)
      guard number <= ColumnChunk.number(of: .max), unsafe view.isWellFormed,
        unsafe view.objects.subtracting(ColumnChunk.slots(of: number)).isEmpty
      else {
        throw RecordError(.invalidValue)
      }
      return unsafe (number, view)
    } catch {
      note(
        unsafe "this object and the 239 that follow in \(name): \(error)",
        ColumnChunk.firstID(of: number)
      )
      return nil
    }
  }
}
