public import ObjectStoreCore
internal import SystemInterface

/// An object in a migration, with its fields by name.
///
/// ```swift
/// func fill(_ old: MigratedObject, _ new: inout MigratedObject) throws {
///   let size: Int64 = try old.value("size")
///   new.set("isLarge", to: size > 1_000_000)
///   new.removeField("size")
/// }
/// ```
public struct MigratedObject: Sendable {
  /// A field, with its value as stored.
  struct Field: Sendable {
    enum Content: Sendable {
      case null
      /// A range of the object's stored bytes.
      case stored(Range<Int>)
      case own([UInt8])
    }

    var name: String
    /// The id of a field that was stored; `nil` for one that a step has added.
    var id: UInt32?
    var type: FieldType
    var content: Content
  }

  /// The name of the model, which a step may change to move the object.
  public var model: String
  private(set) var fields: [Field] = []
  private(set) var isRemoved = false
  private(set) var added: [MigratedObject] = []
  /// The names of the fields that may be changed; `nil` for all.
  var permittedFields: [String]?
  /// A field that was changed, or would have been, although that is not permitted.
  private(set) var refusedField: String?
  /// The bytes of the fields as they were stored.
  private var stored: [UInt8] = []
  /// The position of the primary key as it was stored; `nil` for an object of a step.
  private var keyPosition: Int?

  /// Creates an object without fields, for ``add(_:)``.
  public init(model: String) {
    self.model = model
  }

  /// The fields of a layout, by their names and ids in a schema version.
  struct Template: Sendable {
    /// The fields of the layout without values, in its order.
    fileprivate let fields: [Field]
    /// The names of the fields of all layouts, by id.
    fileprivate let names: [UInt32: String]
    /// The position of the primary key.
    fileprivate let keyPosition: Int?

    /// - Parameters:
    ///   - layout: The layout of the records.
    ///   - names: The names of fields by id, in the schema version of the records.
    ///   - originalIDs: The ids of those fields that have another one in the layout.
    init(_ layout: RecordLayout, names: [UInt32: String], originalIDs: [UInt32: UInt32] = [:]) {
      fields = layout.fields.map { field in
        Field(
          name: names[field.id] ?? field.name,
          id: originalIDs[field.id] ?? field.id,
          type: field.type,
          content: .null
        )
      }
      self.names = names
      keyPosition = layout.fields.firstIndex(where: \.isPrimaryKey)
    }
  }

  /// Copies the fields of a record that has the layout of the template.
  init(
    _ record: borrowing RecordView,
    model: String,
    _ template: Template
  ) throws(RecordError) {
    self.model = model
    fields = template.fields
    keyPosition = template.keyPosition
    stored.reserveCapacity(record.byteCount)
    var position = 0
    try record.forEachField { field, bytes throws(RecordError) in
      // A field of the template may have another id than in the layout.
      if field.origin == .absent, fields.contains(where: { $0.id == field.id }) { return }
      var content = Field.Content.null
      if let bytes {
        content = .stored(stored.count..<stored.count + bytes.byteCount)
        stored.append(copying: bytes)
      }
      switch field.origin {
      case .layout:
        fields[position].content = content
        position += 1
      case .extra:
        let name = template.names[field.id] ?? field.name
        guard let type = field.type else { throw RecordError(.unknownCoding, field: name) }
        fields.append(Field(name: name, id: field.id, type: type, content: content))
      case .absent:
        guard let name = template.names[field.id], let type = field.type else { return }
        fields.append(Field(name: name, id: field.id, type: type, content: content))
      }
    }
  }

  // MARK: Reading

  /// The names of the fields that the object has, in no particular order.
  public var fieldNames: [String] { fields.map(\.name) }

  /// Whether the object has a field that is not `nil`.
  func hasValue(_ name: String) -> Bool {
    guard let field = field(name) else { return false }
    if case .null = field.content { return false }
    return true
  }

  /// The value of a field; `nil` if the object has no such field.
  ///
  /// For values whose types are not known. ``value(_:as:)`` is faster.
  public subscript(name: String) -> StoredValue? { field(name).flatMap(value(of:)) }

  /// The primary key of an object that no step has changed; `nil` if it cannot be decoded.
  var storedKey: StoredValue? { keyPosition.flatMap { value(of: fields[$0]) } }

  private func value(of field: Field) -> StoredValue? {
    let value = withBytes(of: field) { try? StoredValue($0, type: field.type) }
    return value ?? .null
  }

  /// Returns the value of a field.
  ///
  /// - Throws: ``StoreError`` with `missingField` if the object has no such field or it is `nil`,
  ///   `schemaMismatch` if its type is another one, or `damaged` if it cannot be decoded.
  public func value<Value: FieldValue>(
    _ name: String,
    as type: Value.Type = Value.self
  ) throws
    -> Value
  {
    guard let value = try optional(name, as: type) else {
      throw StoreError(
        .missingField,
        fieldNames.contains(name)
          ? "\(model).\(name) has no value"
          : "\(model) has no field \(name) here, only \(fieldNames.joined(separator: ", "))"
      )
    }
    return value
  }

  /// Returns the value of a field; `nil` if it is `nil`, or if the object has no such field.
  ///
  /// - Throws: As ``value(_:as:)``, except for `missingField`.
  public func optional<Value: FieldValue>(
    _ name: String,
    as type: Value.Type = Value.self
  ) throws -> Value? {
    guard let field = field(name) else { return nil }
    guard field.type == Value.fieldType else {
      throw StoreError(
        .schemaMismatch,
        "\(model).\(name) is of type \(field.type), not \(Value.fieldType)"
      )
    }
    do throws(RecordError) {
      return try withBytes(of: field) { bytes throws(RecordError) in
        try ByteReader.reading(bytes) { reader throws(RecordError) in try Value(from: &reader) }
      }
    } catch {
      throw StoreError(.damaged, "\(model).\(name) cannot be decoded", cause: error)
    }
  }

  private func field(_ name: String) -> Field? { fields.first { $0.name == name } }

  /// The stored bytes of a field; `nil` if it is `nil`.
  func bytes(of field: Field) -> [UInt8]? { withBytes(of: field) { [UInt8](copying: $0) } }

  /// Lends `body` the stored bytes of a field; returns `nil` if it is `nil`.
  func withBytes<R, Failure: Error>(
    of field: Field,
    _ body: (RawSpan) throws(Failure) -> R
  ) throws(Failure) -> R? {
    switch field.content {
    case .null: nil
    case .stored(let range):
      try stored.withRawSpan { bytes throws(Failure) in try body(bytes.extracting(range)) }
    case .own(let own): try own.withRawSpan(body)
    }
  }

  // MARK: Changing

  /// Sets a field, also one that the object does not have yet.
  ///
  /// The type of the value is the type of the stored field, so it must be the one that the model
  /// declares.
  public mutating func set<Value: FieldValue>(_ name: String, to value: Value?) {
    guard permits(name) else { return }
    let content = value.map { Field.Content.own($0.storedBytes) } ?? .null
    guard let position = fields.firstIndex(where: { $0.name == name }) else {
      fields.append(Field(name: name, id: nil, type: Value.fieldType, content: content))
      return
    }
    fields[position].type = Value.fieldType
    fields[position].content = content
  }

  /// Removes a field, if the object has it.
  ///
  /// If the model has given the name another id, an object may have two fields of that name. The one
  /// of the layout in which the object was last written is removed, and is the one that is read and
  /// renamed.
  public mutating func removeField(_ name: String) {
    guard permits(name), let position = fields.firstIndex(where: { $0.name == name })
    else { return }
    fields.remove(at: position)
  }

  /// Removes the field at a position.
  mutating func removeField(at position: Int) { fields.remove(at: position) }

  /// Gives a field another name, if the object has it.
  ///
  /// A field that already has the name is replaced.
  public mutating func renameField(_ name: String, to newName: String) {
    guard name != newName, permits(name), permits(newName),
      fields.contains(where: { $0.name == name })
    else { return }
    removeField(newName)
    guard let position = fields.firstIndex(where: { $0.name == name }) else { return }
    fields[position].name = newName
    // Another name is another field for the model, unless that declares the id.
    fields[position].id = nil
  }

  /// Adds a field that the record does not have, with its default.
  mutating func add(_ name: String, id: UInt32, _ type: FieldType, _ bytes: [UInt8]) {
    let start = stored.count
    stored += bytes
    fields.append(Field(name: name, id: id, type: type, content: .stored(start..<stored.count)))
  }

  /// Gives a field without a value another type.
  mutating func retypeEmptyField(at position: Int, _ type: FieldType) {
    fields[position].type = type
  }

  /// Returns whether a field may be changed, and notes it if not.
  private mutating func permits(_ name: String) -> Bool {
    guard let permittedFields, !permittedFields.contains(name) else { return true }
    refusedField = refusedField ?? name
    return false
  }

  /// Whether the object is what steps have made of an earlier one, rather than one that they added.
  ///
  /// Compares the primary keys, which are the fields with the given id.
  func isSame(as earlier: MigratedObject, key id: UInt32) -> Bool {
    guard let own = fields.first(where: { $0.id == id }),
      let other = earlier.fields.first(where: { $0.id == id })
    else { return false }
    guard let key = bytes(of: own) else { return false }
    return key == earlier.bytes(of: other)
  }

  /// Deletes the object.
  public mutating func remove() { isRemoved = true }

  /// Adds another object.
  ///
  /// Later steps see it; the other operations of this step do not.
  public mutating func add(_ object: MigratedObject) { added.append(object) }

  /// Whether a step has added objects.
  var hasAdded: Bool { !added.isEmpty }

  /// Removes and returns the objects that a step has added.
  mutating func takeAdded() -> [MigratedObject] {
    defer { added.removeAll() }
    return added
  }
}
