extension ReaderSource {
  /// Calls `body` with the bytes of one field of every match, reading no other part of records than
  /// it must.
  func forEachContent<M: Model>(
    _ core: QueryCore,
    of model: M.Type,
    at position: Int,
    _ body: (RecordView.Content) throws -> Void
  ) throws {
    guard let reader = unsafe try reader(of: model) else { return }
    let parts = unsafe reader.tables.parts(ofFieldsAt: [position])
    if core.node.isAlways, core.order.isStored, core.takeCount == .max {
      // All that is read is the column.
      var pace = CancellationCheck()
      return unsafe try reader.forEachRecord(parts: parts) { id, record in
        try pace.step()
        unsafe try body(content(of: record, id, model, position))
        return true
      }
    }
    var executor = unsafe try QueryExecutor(reader, core)
    unsafe try executor.forEach(requested: parts) { id, record in
      unsafe try body(content(of: record, id, model, position))
      return true
    }
  }

  private func content<M: Model>(
    of record: borrowing RecordView,
    _ id: UInt64,
    _ model: M.Type,
    _ position: Int
  ) throws -> RecordView.Content {
    do throws(RecordError) {
      return unsafe try record.content(at: position)
    } catch {
      throw StoreError(error, model: M.schema.name, objectID: id)
    }
  }
}
