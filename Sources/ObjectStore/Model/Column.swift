/// A stored field of a model, as queries speak of it.
public struct Column<Root: Model, Value: Sendable>: Sendable {
  /// Where the field stands in ``ModelSchema/fields``.
  public let position: Int

  /// Names the field at `position` of the model's schema.
  public init(position: Int) {
    self.position = position
  }
}
