internal import LMDB

/// Records by their ids: quick when ids are near the ones before.
@unsafe
struct RecordWalk: ~Copyable {
  private let reader: ModelReader
  private let cold: Cursor
  private var hot: ModelReader.HotWalk

  init(_ reader: ModelReader) throws {
    unsafe self.reader = unsafe reader
    unsafe cold = unsafe try reader.transaction.cursor(on: reader.tables.records)
    unsafe hot = unsafe ModelReader.HotWalk(reader: reader, isOfAll: false)
  }

  /// The record with those parts; `nil` when there is no such object.
  mutating func record(_ id: UInt64, parts: RecordParts) throws -> RecordView? {
    if parts == .hot { return unsafe try hotRecord(id) }
    let entry = try unsafe withUnsafeBytes(of: id) { unsafe try cold.first(atOrAfter: $0) }
    guard let entry = unsafe entry, unsafe entry.key.count == 8,
      unsafe entry.key.loadUnaligned(as: UInt64.self) == id
    else { return nil }
    let readsHot = unsafe parts.contains(.hot) && reader.tables.hasHotFields
    let part = unsafe readsHot ? try hot.part(of: id) : nil
    return unsafe try reader.record(id, cold: entry.value, hot: part, parts: parts)
  }

  private mutating func hotRecord(_ id: UInt64) throws -> RecordView? {
    guard let part = unsafe try hot.part(of: id) else { return nil }
    do throws(RecordError) {
      return unsafe try RecordView(
        hot: part,
        layout: reader.tables.reference(part.layoutNumber)
      )
    } catch {
      throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
    }
  }
}
