/// A stored field of a model, as queries speak of it.
@frozen
public struct Column<Root: Model, Value: Sendable>: Sendable {
  /// Where the field stands in ``ModelSchema/fields``.
  public let position: Int

  /// Names the field at `position` of the model's schema.
  @inlinable
  public init(position: Int) {
    self.position = position
  }
}
