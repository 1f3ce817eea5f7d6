/// Why an edited copy was not written: somebody has changed the object since it was read.
///
/// The cause of a ``StoreError`` with `conflict`.
public struct UpdateConflict: Error, Sendable, Hashable {
  /// The object's model.
  public var model: String
  /// The object's primary key.
  public var key: String
  /// The fields that are not as they were read, of those that were looked at, in the order of the
  /// schema.
  public var fields: [String]
  /// Whether the object is gone.
  public var isDeleted: Bool

  /// Describes a conflict.
  public init(model: String, key: String, fields: [String], isDeleted: Bool) {
    self.model = model
    self.key = key
    self.fields = fields
    self.isDeleted = isDeleted
  }

  init<M: Model>(of object: M, fields: [String], isDeleted: Bool) {
    self.init(
      model: M.schema.name,
      key: "\(object.primaryKey)",
      fields: fields,
      isDeleted: isDeleted
    )
  }

  var error: StoreError {
    StoreError(
      .conflict,
      """
      \(description) since it was read, and nothing was written: read it again, and edit that
      """,
      cause: self
    )
  }
}

extension UpdateConflict: CustomStringConvertible {
  /// What has happened to which object.
  public var description: String {
    isDeleted
      ? "\(model) \(key) was deleted"
      : "\(model) \(key) was changed in \(fields.joined(separator: ", "))"
  }
}
