/// The conversion of the records of an outdated layout when they are read.
package final class RecordConversion: Sendable {
  /// The ids that the fields which the steps change have in the layout, and their original ids, which
  /// extra fields of a record keep.
  let replacedFields: Set<UInt32>
  /// The fields of the program that the steps change, as in ``ChangeLog/Change/fields``.
  let changedFields: UInt64
  private let body: @Sendable (borrowing RecordView, UInt64) throws -> RecordView

  package init(
    replacedFields: Set<UInt32>,
    changedFields: UInt64,
    _ body: @escaping @Sendable (borrowing RecordView, UInt64) throws -> RecordView
  ) {
    self.replacedFields = replacedFields
    self.changedFields = changedFields
    self.body = body
  }

  /// Returns a converted record, whose memory belongs to its view.
  ///
  /// It has no layout of the store, so a write of the object stores all of it again.
  ///
  /// - Throws: ``RecordError`` if the record cannot be decoded; ``StoreError`` with
  ///   `migrationFailed` if a step fails.
  package func convert(_ record: borrowing RecordView, _ id: UInt64) throws -> RecordView {
    try body(record, id)
  }
}
