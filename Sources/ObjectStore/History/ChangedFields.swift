/// Which fields of an object have changed.
public struct ChangedFields<Root: Model>: Sendable, Hashable {
  /// As ``ChangeLog/Change/fields``.
  var bits: UInt64

  init(bits: UInt64) {
    self.bits = bits
  }

  /// The fields at those places of the schema.
  init(positions: [Int]) {
    bits = positions.reduce(0) { $0 | ChangeLog.bit(ofFieldAt: $1) }
  }

  /// Whether the field has changed: `fields.contains(\.state)`.
  ///
  /// From the 64th field of a model on, a change of one counts as a change of each.
  public func contains<Value>(_ column: KeyPath<Root.Columns, Column<Root, Value>>) -> Bool {
    bits & ChangeLog.bit(ofFieldAt: Root.columns[keyPath: column].position) != 0
  }

  /// The names of the fields that have changed, in the order of the schema.
  public var names: [String] {
    Root.schema.fields.indices
      .filter { bits & ChangeLog.bit(ofFieldAt: $0) != 0 }
      .map { Root.schema.fields[$0].name }
  }

  /// Whether no field has changed.
  public var isEmpty: Bool { bits == 0 }

  /// Every field.
  static var all: Self { Self(bits: .max) }
}
