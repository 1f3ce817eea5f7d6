/// One object of a store, read by what the store says of its fields, without the model's type.
public struct StoredObject: Sendable, Hashable {
  /// A field and its value.
  public struct Field: Sendable, Hashable {
    /// Identifies the field, whatever its name.
    public var id: UInt32
    /// The name that the newest layout of the model gives it.
    public var name: String
    /// The type on disk.
    public var type: FieldType
    /// The value; ``StoredValue/null`` for nil.
    public var value: StoredValue

    /// Makes a field.
    public init(id: UInt32, name: String, type: FieldType, value: StoredValue) {
      self.id = id
      self.name = name
      self.type = type
      self.value = value
    }
  }

  /// The name of the model.
  public var model: String
  /// The object's id; 0 for one that is not stored yet.
  public var id: UInt64
  /// The fields that the record has, in the order of its layout.
  ///
  /// One that was added to the model after the record was written is not among them.
  public var fields: [Field]

  /// Makes an object.
  public init(model: String, id: UInt64 = 0, fields: [Field]) {
    self.model = model
    self.id = id
    self.fields = fields
  }

  /// The value of the field of that name; `nil` when the record has no such field.
  ///
  /// - Complexity: O(n) in the fields.
  public subscript(name: String) -> StoredValue? {
    fields.first { $0.name == name }?.value
  }
}

extension StoredObject {
  /// Reads every field of a record; `names` are those of today, by field id.
  init(
    _ record: borrowing RecordView,
    id: UInt64,
    model: String,
    names: [UInt32: String]
  ) throws(RecordError) {
    let layout = unsafe record.binding.layout
    var fields: [Field] = []
    fields.reserveCapacity(layout.fields.count)
    for position in layout.fields.indices {
      let field = layout.fields[position]
      let content = unsafe try record.content(at: layout.places[position])
      let value = unsafe try Self.value(content, field.type, field.name)
      guard field.isOptional || !value.isNull else {
        throw RecordError(.missingField, field: field.name)
      }
      let name = names[field.id] ?? field.name
      fields.append(Field(id: field.id, name: name, type: field.type, value: value))
    }
    let extras = try record.extras()
    for index in extras.indices {
      let extra = extras[index]
      let name = names[extra.id] ?? "#\(extra.id)"
      guard let type = FieldType(extra.type) else { throw RecordError(.unknownCoding, field: name) }
      guard !fields.contains(where: { $0.id == extra.id }) else {
        throw RecordError(.invalidValue, field: name)
      }
      let content = unsafe extra.range.map {
        unsafe RecordView.Content.present(UnsafeRawBufferPointer(rebasing: record.cold[$0]))
      }
      let value = unsafe try Self.value(content ?? .null, type, name)
      fields.append(Field(id: extra.id, name: name, type: type, value: value))
    }
    self.init(model: model, id: id, fields: fields)
  }

  private static func value(
    _ content: RecordView.Content,
    _ type: FieldType,
    _ name: String
  ) throws(RecordError) -> StoredValue {
    guard case .present(let bytes) = unsafe content else { return .null }
    do throws(RecordError) {
      return unsafe try StoredValue(bytes, type: type)
    } catch {
      throw RecordError(error.code, field: name)
    }
  }
}
