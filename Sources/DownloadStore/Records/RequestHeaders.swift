// Expanded from RequestHeaders.model by the @Model macro. Do not edit: change the template and run `make models`.
package import ObjectStore

/// The header fields to send with the requests of one download.
///
/// They may contain secrets, so they are stored apart from the record, and every output redacts
/// them.
package struct RequestHeaders: Sendable, Hashable {
  /// The id of the record.
  package var recordID: String
  /// The fields, in order.
  package var fields: [HeaderField]
  /// The origin that the fields were given for, such as `https://example.com:443`.
  ///
  /// `HeaderScope` decides which fields a request to another origin carries.
  package var origin: String
}

nonisolated extension RequestHeaders: ObjectStoreNames.Model {
  /// The stored fields, each under its name.
  package nonisolated struct Columns: Swift.Sendable {
    /// The field `recordID`.
    package let recordID = ObjectStoreNames.Column<RequestHeaders, String>(position: 0)
    /// The field `fields`.
    package let fields = ObjectStoreNames.Column<RequestHeaders, [HeaderField]>(position: 1)
    /// The field `origin`.
    package let origin = ObjectStoreNames.Column<RequestHeaders, String>(position: 2)
  }

  /// The stored fields, for use in queries.
  package static let columns = Columns()

  /// The name and the fields under which objects are stored.
  package static let schema = ObjectStoreNames.ModelSchema(
    name: "RequestHeaders",
    fields: [
      ObjectStoreNames.FieldSchema("recordID", String.self, id: 1, isPrimaryKey: true),
      ObjectStoreNames.FieldSchema("fields", [HeaderField].self, id: 2),
      ObjectStoreNames.FieldSchema("origin", String.self, id: 3),
    ]
  )

  /// The value of `recordID`, which tells one object from another.
  package var primaryKey: String { recordID }

  /// Reads every stored field.
  package init(
    from record: borrowing ObjectStoreNames.RecordView
  ) throws(ObjectStoreNames.RecordError) {
    recordID = try record.value(at: 0)
    fields = try record.value(at: 1)
    origin = try record.value(at: 2)
  }

  /// Writes every stored field.
  package func encode(to record: inout ObjectStoreNames.RecordEncoder) {
    record.encode(recordID)
    record.encode(fields)
    record.encode(origin)
  }

  /// Where the field of a property stands, for predicates of Foundation.
  package static func fieldPosition(of property: Swift.PartialKeyPath<RequestHeaders>) -> Swift.Int?
  {
    let properties: [Swift.PartialKeyPath<RequestHeaders>] = [
      \.recordID,
      \.fields,
      \.origin,
    ]
    return properties.firstIndex(of: property)
  }
}
