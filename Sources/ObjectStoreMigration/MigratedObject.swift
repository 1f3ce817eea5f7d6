public import ObjectStoreCore

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

    /// Returns the fields of the schema version that have a default in the store.
    fileprivate func defaultFields(
      of defaults: FieldDefaults
    ) -> [(id: UInt32, name: String, type: FieldType)] {
      defaults.storedFields.compactMap { field in
        names[field.id].map { (field.id, $0, field.type) }
      }
    }

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
    unsafe stored.reserveCapacity(record.cold.count + record.hot.count)
    let layout = unsafe record.binding.layout
    let defaults = unsafe record.binding.defaults
    for position in layout.fields.indices {
      let content = unsafe try defaults.replacing(
        record.storedContent(at: layout.places[position]),
        ofID: layout.fields[position].id
      )
      guard case .present(let bytes) = unsafe content else { continue }
      let start = stored.count
      unsafe stored.append(contentsOf: bytes)
      fields[position].content = .stored(start..<stored.count)
    }
    for extra in try record.extras() {
      let name = template.names[extra.id] ?? "#\(extra.id)"
      guard let type = FieldType(extra.type) else { throw RecordError(.unknownCoding, field: name) }
      var content = Field.Content.null
      if let range = extra.range {
        let start = stored.count
        unsafe stored.append(contentsOf: record.cold[range])
        content = .stored(start..<stored.count)
      }
      fields.append(Field(name: name, id: extra.id, type: type, content: content))
    }
    for field in template.defaultFields(of: defaults)
    where !fields.contains(where: { $0.id == field.id }) {
      guard case .present(let bytes) = unsafe defaults.replacing(.missing, ofID: field.id) else {
        continue
      }
      add(field.name, id: field.id, field.type, unsafe Array(bytes))
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
    unsafe withBytes(of: field) { bytes in
      guard let bytes = unsafe bytes else { return .null }
      return unsafe try? StoredValue(bytes, type: field.type)
    }
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
    do {
      return unsafe try withBytes(of: field) { bytes throws(RecordError) in
        guard let bytes = unsafe bytes else { return nil }
        var reader = unsafe ByteReader(bytes)
        return try Value(from: &reader)
      }
    } catch {
      throw StoreError(.damaged, "\(model).\(name) cannot be decoded", cause: error)
    }
  }

  private func field(_ name: String) -> Field? { fields.first { $0.name == name } }

  /// The number of stored bytes of a field.
  func size(of field: Field) -> Int {
    switch field.content {
    case .null: 0
    case .stored(let range): range.count
    case .own(let own): own.count
    }
  }

  /// Lends `body` the stored bytes of a field, or `nil`.
  func withBytes<R>(
    of field: Field,
    _ body: (UnsafeRawBufferPointer?) throws -> R
  ) rethrows -> R {
    switch field.content {
    case .null: try body(nil)
    case .stored(let range):
      try unsafe stored.withUnsafeBytes { bytes in
        unsafe try body(UnsafeRawBufferPointer(rebasing: bytes[range]))
      }
    case .own(let own): try unsafe own.withUnsafeBytes { unsafe try body($0) }
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
  public mutating func removeField(_ name: String) {
    guard permits(name) else { return }
    fields.removeAll { $0.name == name }
  }

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
    return unsafe withBytes(of: own) { bytes in
      unsafe earlier.withBytes(of: other) { others in
        guard let bytes = unsafe bytes, let others = unsafe others else { return false }
        return unsafe bytes.isSame(as: others)
      }
    }
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
