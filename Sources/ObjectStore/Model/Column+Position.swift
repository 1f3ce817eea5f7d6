/// A column, whatever its type is.
private protocol FieldPosition {
  var position: Int { get }
}

extension Column: FieldPosition {}

extension Model {
  /// Where the field of a column stands in the schema.
  ///
  /// - Precondition: The key path is that of a column.
  static func position(of path: PartialKeyPath<Columns>) -> Int {
    guard let column = columns[keyPath: path] as? any FieldPosition else {
      preconditionFailure("\(path) is no column of \(schema.name)")
    }
    return column.position
  }
}
