extension RecordView {
  /// The fields of which the two records have different bytes, as ``ChangeLog/Change/fields``.
  static func changedFields(
    from old: borrowing RecordView,
    to new: borrowing RecordView,
    count: Int
  ) throws(RecordError) -> UInt64 {
    var fields: UInt64 = 0
    for position in 0..<count
    where unsafe !(try old.content(at: position).isSame(as: try new.content(at: position))) {
      fields |= ChangeLog.bit(ofFieldAt: position)
    }
    return fields
  }
}

extension RecordView.Content {
  /// Whether both say the same of a field.
  ///
  /// A field that the layout does not have is not the same as one that is nil: it has a default.
  func isSame(as other: RecordView.Content) -> Bool {
    switch unsafe (self, other) {
    case (.missing, .missing), (.null, .null): true
    case (.present(let one), .present(let two)): unsafe one.isSame(as: two)
    default: false
    }
  }
}
