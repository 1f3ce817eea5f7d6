/// An object to write, with the values of the fields that it omits.
///
/// A field that the object omits keeps its value if the object replaces another one. Otherwise it has
/// its default, or `nil` if it is optional. So objects that omit different fields share one layout.
struct CompletedObject {
  private let object: StoredObject
  /// The positions of the object's fields by their ids; `nil` if there are few.
  private let positions: [UInt32: Int]?
  /// The encoded values of the fields that the object omits, by their ids.
  private var omitted: [UInt32: [UInt8]?] = [:]

  init(_ object: StoredObject) {
    self.object = object
    positions =
      object.fields.count <= 16
      ? nil
      : Dictionary(object.fields.enumerated().map { ($1.id, $0) }) { first, _ in first }
  }

  /// Returns the field that the object has with an id; `position` is where it probably is.
  func field(withID id: UInt32, near position: Int = 0) -> StoredObject.Field? {
    if position < object.fields.count, object.fields[position].id == id {
      return object.fields[position]
    }
    guard let positions else { return object.fields.first { $0.id == id } }
    return positions[id].map { object.fields[$0] }
  }

  /// The fields of a layout that the object does not have.
  func missing(from layout: RecordLayout) -> [RecordLayout.Field] {
    layout.fields.enumerated().filter { field(withID: $1.id, near: $0) == nil }.map(\.element)
  }

  /// Adds the values of fields that the object omits.
  ///
  /// Without a value, a default and an optional type, a field stays missing.
  ///
  /// - Parameters:
  ///   - fields: The fields.
  ///   - stored: Their values in the object that is replaced, by field id.
  ///   - entry: The model.
  mutating func add(
    _ fields: [RecordLayout.Field],
    stored: [UInt32: [UInt8]?],
    in entry: StoredSchema.Entry
  ) {
    for field in fields where entry.names[field.id] != nil {
      if let value = stored[field.id] {
        omitted[field.id] = .some(value)
      } else if let value = entry.defaults[field.id], value.type == field.type {
        omitted[field.id] = .some(value.bytes)
      } else if field.isOptional {
        omitted[field.id] = .some(nil)
      }
    }
  }

  // MARK: Layouts

  /// The index of the newest layout that fits the object.
  ///
  /// Layouts from before a migration are not used: a later one would not convert the object.
  func layoutIndex(in layouts: [RecordLayout]) -> Int? {
    layouts.lastIndex { fits($0) && !OutdatedLayouts.isMarked($0) }
  }

  /// Whether a layout has exactly the fields of the object, and is optional where one is `nil`.
  private func fits(_ layout: RecordLayout) -> Bool {
    layout.fields.count == object.fields.count + omitted.count
      && layout.fields.enumerated().allSatisfy { position, field in
        if let own = self.field(withID: field.id, near: position) {
          return own.type == field.type && (field.isOptional || !own.value.isNull)
        }
        guard let value = omitted[field.id] else { return false }
        return field.isOptional || value != nil
      }
  }

  /// Returns a layout for the object; the newest layout that has a field describes it.
  ///
  /// - Parameters:
  ///   - entry: The model.
  ///   - last: The newest layout of the model.
  /// - Returns: The layout.
  /// - Throws: ``StoreError`` with `schemaMismatch` if the object does not fit the model.
  func newLayout(in entry: StoredSchema.Entry, after last: RecordLayout?) throws -> RecordLayout {
    let model = object.model
    let fields = object.fields
    guard Set(fields.map(\.id)).count == fields.count,
      Set(fields.map(\.name)).count == fields.count
    else { throw StoreError(.schemaMismatch, "an object of \(model) has a duplicate field") }
    let known = entry.fields.filter {
      field(withID: $0.id) != nil || omitted.keys.contains($0.id)
    }
    guard known.contains(where: { $0.isPrimaryKey && field(withID: $0.id) != nil }) else {
      throw StoreError(.schemaMismatch, "an object of \(model) has no primary key")
    }
    var described: [RecordLayout.Field] = []
    for field in fields {
      guard var own = known.first(where: { $0.id == field.id }), own.type == field.type else {
        throw StoreError(
          .schemaMismatch,
          "the store has no field \(field.name) of \(model), or has it with another type"
        )
      }
      guard !own.isPrimaryKey || !field.value.isNull else {
        throw StoreError(.schemaMismatch, "the primary key of an object of \(model) is nil")
      }
      own.isOptional = own.isOptional || field.value.isNull
      // Field names must be unique in a layout: on a conflict, keep the object's name of the field.
      if known.contains(where: { $0.id != own.id && $0.name == own.name }) { own.name = field.name }
      described.append(RecordLayout.Field(own))
    }
    var names = Set(described.map(\.name))
    for field in last?.fields ?? [] {
      guard let value = omitted[field.id] else { continue }
      var field = field
      field.isOptional = field.isOptional || value == nil
      if !names.insert(field.name).inserted { field.name = String("\(field.id)") }
      described.append(field)
    }
    return RecordLayout(fields: described, storage: entry.tables.storage)
  }

  // MARK: Encoding

  /// Encodes the object in a layout that fits it.
  ///
  /// - Throws: ``StoreError`` with `schemaMismatch` if a value is not of the type of its field.
  func encode(in layout: RecordLayout, to encoder: inout RecordEncoder) throws {
    encoder.start()
    for (position, field) in layout.fields.enumerated() {
      guard let own = self.field(withID: field.id, near: position) else {
        encoder.encode(stored: omitted[field.id] ?? nil)
        continue
      }
      encoder.encode(stored: try bytes(of: own, as: field.type))
    }
  }

  /// The encoded primary key.
  ///
  /// - Throws: ``StoreError`` with `schemaMismatch` if the object has none, or one of another type.
  func key(in entry: StoredSchema.Entry) throws -> [UInt8] {
    guard let key = entry.fields.first(where: \.isPrimaryKey),
      let own = field(withID: key.id), let bytes = try bytes(of: own, as: key.type)
    else { throw StoreError(.schemaMismatch, "an object of \(object.model) has no primary key") }
    return bytes
  }

  private func bytes(of field: StoredObject.Field, as type: FieldType) throws -> [UInt8]? {
    do throws(RecordError) {
      return try field.value.bytes(as: type)
    } catch {
      throw StoreError(
        .schemaMismatch,
        "the value of \(object.model).\(field.name) is not of type \(type)"
      )
    }
  }
}
