package import LMDB

/// Fills an empty column from the records of its model.
package struct ColumnBuilder {
  /// The number of chunks that are kept in memory: about a megabyte.
  private static let batchSize = 512

  package let tables: ModelTables
  package let column: ModelTables.Column

  package init(tables: ModelTables, column: ModelTables.Column) {
    self.tables = tables
    self.column = column
  }

  /// Builds the column in batches, because a write may invalidate the records of a scan.
  ///
  /// - Throws: ``StoreError`` with `damaged` if a record cannot be read.
  package func run(in transaction: inout WriteTransaction) throws {
    var next: UInt64? = 0
    while let start = next {
      let batch = try read(from: start, in: transaction)
      for (number, chunk) in batch { try column.store(chunk, number, in: &transaction) }
      next = batch.count < Self.batchSize ? nil : batch.last.flatMap { nextID(after: $0.0) }
    }
  }

  private func nextID(after number: UInt64) -> UInt64? {
    number < ColumnChunk.number(of: .max) ? ColumnChunk.firstID(of: number + 1) : nil
  }

  /// Reads up to ``batchSize`` chunks from the records at or after `start`.
  private func read(
    from start: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> [(UInt64, ColumnChunkBuilder)] {
    let parts = column.position.map { tables.parts(ofFieldsAt: [$0]) } ?? .all
    var batch: [(UInt64, ColumnChunkBuilder)] = []
    try tables.forEachRecord(in: transaction, parts: parts, from: start) { id, record in
      let number = ColumnChunk.number(of: id)
      if batch.last?.0 != number {
        guard batch.count < Self.batchSize else { return false }
        batch.append((number, ColumnChunkBuilder(width: column.width)))
      }
      do throws(RecordError) {
        try column.add(record, to: batch[batch.count - 1].1, at: ColumnChunk.slot(of: id))
      } catch {
        throw StoreError(error, model: tables.name, objectID: id)
      }
      return true
    }
    return batch
  }
}
