/// Converts stored objects to values of a model and back.
///
/// Fields are matched by their ids. A field that the object lacks has the default value of the model.
package struct StoredObjectCoder<M: Model>: Sendable {
  private let binding: LayoutBinding
  private let names: [UInt32: String]

  /// Creates a coder.
  package init() {
    // A record in one part.
    let fields = RecordLayout(M.schema).fields.map { field in
      var field = field
      field.isHot = false
      return field
    }
    let own = RecordLayout(fields: fields)
    // A field that the object lacks is stored as `nil`, which is read as the default.
    let optional = fields.map { field in
      var field = field
      field.isOptional = true
      return field
    }
    binding = LayoutBinding(
      reading: RecordLayout(fields: optional),
      number: 1,
      as: own,
      defaults: FieldDefaults(own: own, declared: M.schema.defaults, stored: [:])
    )
    names = Dictionary(fields.map { ($0.id, $0.name) }) { first, _ in first }
  }

  /// Decodes an object.
  ///
  /// - Throws: ``RecordError`` if a field is missing, or has another type or an invalid value.
  package func decode(_ object: StoredObject) throws(RecordError) -> M {
    var encoder = RecordEncoder(binding)
    encoder.start()
    for field in binding.layout.fields {
      guard let own = object.fields.first(where: { $0.id == field.id }), !own.value.isNull else {
        encoder.encode(stored: nil)
        continue
      }
      guard own.type == field.type else { throw RecordError(.invalidValue, field: field.name) }
      encoder.encode(stored: try own.value.bytes(as: field.type))
    }
    encoder.finish()
    return try withRecord(encoder.cold.bytes) { record throws(RecordError) in
      try M(from: record)
    }
  }

  /// Encodes a value, with the fields of another object that the model does not have.
  ///
  /// - Throws: ``RecordError`` if a value cannot be stored.
  package func object(
    _ value: M,
    replacing object: StoredObject
  ) throws(RecordError) -> StoredObject {
    var encoder = RecordEncoder(binding)
    encoder.start()
    value.encode(to: &encoder)
    encoder.finish()
    var result = try withRecord(encoder.cold.bytes) { record throws(RecordError) in
      try StoredObject(record, id: object.id, model: object.model, names: names)
    }
    result.fields += object.fields.filter { names[$0.id] == nil }
    return result
  }

  private func withRecord<R>(
    _ bytes: [UInt8],
    _ body: (borrowing RecordView) throws(RecordError) -> R
  ) throws(RecordError) -> R {
    try RecordView.withView(ofChecked: bytes, binding, body)
  }
}
