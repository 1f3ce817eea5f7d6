internal import LMDB

/// Reads the matches of a condition from the columns of a model, 240 object ids at a time.
///
/// All columns of a model have chunks for the same objects, so their cursors move in step.
@unsafe
struct ColumnScan: ~Copyable {
  /// The matches among the objects of one chunk.
  struct Chunk {
    let number: UInt64
    let matches: ColumnMask

    /// The id of the object in a slot.
    func id(at slot: Int) -> UInt64 { ColumnChunk.firstID(of: number) + UInt64(slot) }
  }

  private let cursors: [ColumnCursor]
  private let condition: ColumnCondition
  private let first: UInt64
  /// The current chunk of each column of the filter, valid until the next call of ``next()``.
  private(set) var views: [ColumnChunkView] = unsafe []
  private var isStarted = false
  private var cancellation = CancellationCheck()

  /// Creates a scan of the objects whose id is `first` or greater.
  ///
  /// - Precondition: The reader's model has a column for each position of the filter, and there is
  ///   at least one.
  init(_ reader: ModelReader, _ filter: ColumnFilter, from first: UInt64 = 0) throws {
    unsafe cursors = unsafe try filter.positions.map { position in
      guard let column = unsafe reader.tables.column(ofFieldAt: position) else {
        preconditionFailure("the field at position \(position) has no column")
      }
      return unsafe try ColumnCursor(column, reader)
    }
    unsafe condition = filter.condition
    unsafe self.first = first
  }

  /// Returns the next chunk in the order of ids, which may have no match; `nil` at the end.
  ///
  /// - Throws: ``StoreError`` with `damaged`; `CancellationError`.
  mutating func next() throws -> Chunk? {
    unsafe try cancellation.step()
    let leading = unsafe cursors[0]
    let start = unsafe isStarted ? nil : ColumnChunk.number(of: first)
    unsafe isStarted = true
    unsafe views.removeAll(keepingCapacity: true)
    guard let (number, view) = unsafe try leading.next(from: start) else { return nil }
    let objects = unsafe view.objects
    // A chunk that the transaction has emptied may be stored in some of the columns only.
    guard !objects.isEmpty else { return Chunk(number: number, matches: .none) }
    unsafe views.append(view)
    for index in unsafe cursors.indices.dropFirst() {
      unsafe views.append(try cursors[index].view(number))
    }
    var matches: ColumnMask
    do throws(RecordError) {
      matches = unsafe try condition.mask(views, objects) & objects
    } catch {
      let id = ColumnChunk.firstID(of: number)
      throw StoreError(error, model: unsafe leading.column.model, objectID: id)
    }
    if unsafe ColumnChunk.number(of: first) == number {
      unsafe matches.removeSlots(before: ColumnChunk.slot(of: first))
    }
    return Chunk(number: number, matches: matches)
  }
}

/// A cursor over the chunks of one column, including those that the transaction has changed.
@unsafe
final class ColumnCursor {
  let column: ModelTables.Column
  private let cache: ColumnCache?
  private let cursor: Cursor
  private var isPositioned = false

  init(_ column: ModelTables.Column, _ reader: ModelReader) throws {
    unsafe self.column = column
    unsafe cache = unsafe reader.changedColumns?.caches.first { $0.column === column }
    unsafe cursor = unsafe try reader.transaction.cursor(on: column.database)
  }

  /// Moves to the next chunk, or to the first one whose number is `start` or greater.
  func next(from start: UInt64? = nil) throws -> (number: UInt64, view: ColumnChunkView)? {
    let entry: Cursor.Entry?
    if let start {
      unsafe entry = try unsafe withUnsafeBytes(of: start) {
        unsafe try cursor.first(atOrAfter: $0)
      }
    } else {
      unsafe entry = unsafe try cursor.next()
    }
    guard let entry = unsafe entry else { return nil }
    guard unsafe entry.key.count == 8 else {
      throw unsafe damaged("has a key of \(entry.key.count) bytes, not 8")
    }
    let number = unsafe entry.key.loadUnaligned(as: UInt64.self)
    guard number <= ColumnChunk.number(of: .max) else {
      throw unsafe damaged("has the chunk \(number), which no object can have")
    }
    if let changed = unsafe cache?.chunk(number) { return unsafe (number, changed.view) }
    let view = unsafe try column.view(entry.value, number: number)
    guard unsafe view.objects.subtracting(ColumnChunk.slots(of: number)).isEmpty else {
      throw unsafe damaged("has objects in chunk \(number) that cannot exist")
    }
    return unsafe (number, view)
  }

  /// Moves to the chunk with this number, which is usually the next one.
  ///
  /// - Throws: ``StoreError`` with `damaged` if the column lacks it.
  func view(_ number: UInt64) throws -> ColumnChunkView {
    if unsafe isPositioned, let found = unsafe try next(), unsafe found.number == number {
      return unsafe found.view
    }
    unsafe isPositioned = true
    guard let found = unsafe try next(from: number), unsafe found.number == number else {
      throw unsafe damaged("lacks the objects of chunk \(number)")
    }
    return unsafe found.view
  }

  private func damaged(_ problem: String) -> StoreError {
    StoreError(
      .damaged,
      """
      the column of field \(unsafe column.description.fieldID) of \(unsafe column.model) \
      \(problem): rebuild the indexes
      """
    )
  }
}

extension ModelReader {
  /// Calls `body` with the content of a field of each match, in the order of ids, from columns
  /// alone.
  ///
  /// Returns `false` without a call if the field has no column, or if the condition needs an index
  /// or a record. The query must have neither an order nor a limit.
  func forEachColumnContent(
    _ core: ResolvedQuery,
    at position: Int,
    _ body: (RecordView.Content) throws -> Void
  ) throws -> Bool {
    guard unsafe tables.column(ofFieldAt: position) != nil else { return false }
    var filter: ColumnFilter
    if core.node.isAlways {
      filter = ColumnFilter(reading: position)
    } else {
      guard case .columns = unsafe core.plan(tables).access else { return false }
      filter = unsafe ColumnFilter(core, tables)
      guard filter.isExact else { return false }
    }
    let number = filter.add(position)
    var scan = unsafe try ColumnScan(self, filter)
    while let chunk = unsafe try scan.next() {
      guard !chunk.matches.isEmpty else { continue }
      let view = unsafe scan.views[number]
      let values = unsafe view.values
      for slot in chunk.matches {
        unsafe try body(values.contains(slot) ? .present(view.bytes(at: slot)) : .null)
      }
    }
    return true
  }
}
