// All fields of a record, also those that its layout or the program's schema does not have.

extension RecordView {
  /// A field of a record.
  package struct Field {
    /// Where the field comes from.
    package enum Origin: Hashable {
      /// The layout of the record has it.
      case layout
      /// A later program kept it when it wrote the record.
      case extra
      /// The record lacks it, and the store has a default for it.
      case absent
    }

    /// The id of the field.
    package var id: UInt32
    /// The name in the layout; a placeholder for a field that the layout does not have.
    package var name: String
    /// The type; `nil` if this version does not know it.
    package var type: FieldType?
    /// Whether the field may be `nil`.
    package var isOptional: Bool
    /// Where the field comes from.
    package var origin: Origin
  }

  /// Calls `body` with each field: those of the layout in its order, the extras, and the others that
  /// have a default in the store; and with the bytes of its value, or its default, if it has one.
  package func forEachField(
    _ body: (Field, RawSpan?) throws(RecordError) -> Void
  ) throws(RecordError) {
    let (layout, defaults) = unsafe (binding.layout, binding.defaults)
    for position in layout.fields.indices {
      let field = layout.fields[position]
      let content = unsafe try storedContent(at: layout.places[position])
      unsafe try Self.lend(
        defaults.replacing(content, ofID: field.id),
        Field(
          id: field.id,
          name: field.name,
          type: field.type,
          isOptional: field.isOptional,
          origin: .layout
        ),
        to: body
      )
    }
    let extras = try extras()
    for extra in extras {
      let content = unsafe extra.range.map {
        unsafe Content.present(UnsafeRawBufferPointer(rebasing: cold[$0]))
      }
      unsafe try Self.lend(
        defaults.replacing(content ?? .null, ofID: extra.id),
        Field(
          id: extra.id,
          name: "#\(extra.id)",
          type: FieldType(extra.type),
          isOptional: true,
          origin: .extra
        ),
        to: body
      )
    }
    for field in defaults.storedFields
    where layout.position(ofID: field.id) == nil && !extras.contains(where: { $0.id == field.id }) {
      unsafe try Self.lend(
        defaults.replacing(.missing, ofID: field.id),
        Field(
          id: field.id,
          name: "#\(field.id)",
          type: field.type,
          isOptional: true,
          origin: .absent
        ),
        to: body
      )
    }
  }

  private static func lend(
    _ content: Content,
    _ field: Field,
    to body: (Field, RawSpan?) throws(RecordError) -> Void
  ) throws(RecordError) {
    guard case .present(let bytes) = unsafe content else { return try body(field, nil) }
    try body(field, unsafe bytes.bytes)
  }

  func extra(withID id: UInt32) throws(RecordError) -> Content {
    for extra in try extras() where extra.id == id {
      guard let range = extra.range else { return unsafe .null }
      return unsafe .present(UnsafeRawBufferPointer(rebasing: cold[range]))
    }
    return unsafe .missing
  }

  /// A field that the schema of the record's writer did not have.
  ///
  /// The writer preserved it from an earlier version of the record.
  package struct Extra {
    package var id: UInt32
    package var type: String
    /// The range of its bytes in the cold part; `nil` when the value is `nil`.
    package var range: Range<Int>?
  }

  /// The fields stored after the heap, which the record's layout does not have.
  package func extras() throws(RecordError) -> [Extra] {
    guard hasExtras else { return [] }
    let shape = unsafe binding.layout.cold
    var start = shape.heapStart
    if shape.variableCount > 0, let base = unsafe cold.baseAddress {
      unsafe start += Self.end(base, shape.heapStart - 4)
    }
    guard unsafe start <= cold.count else { throw RecordError(.truncated) }
    var reader = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: cold[start...]))
    var extras: [Extra] = []
    while reader.remaining > 0 {
      let id = try reader.read(UInt32.self)
      let isPresent = try reader.read(UInt8.self) == 1
      let type = try reader.readSized(String.self)
      let size = try reader.readCount()
      let offset = unsafe cold.count - reader.remaining
      _ = unsafe try reader.take(size)
      extras.append(Extra(id: id, type: type, range: isPresent ? offset..<offset + size : nil))
    }
    return extras
  }

  /// Encodes the fields that the program's schema does not have as extras of a new record.
  ///
  /// Without those that a step of a migration changes, if the record is in the form before it.
  func encodedUnknownFields() throws(RecordError) -> [UInt8] {
    let binding = unsafe binding
    guard hasExtras || !binding.unknownPositions.isEmpty else { return [] }
    let replaced = binding.conversion?.replacedFields ?? []
    var writer = ByteWriter()
    for position in binding.unknownPositions {
      let field = binding.layout.fields[position]
      guard !replaced.contains(field.id) else { continue }
      let content = unsafe try storedContent(at: binding.layout.places[position])
      unsafe Self.write(field.id, field.type.description, content, to: &writer)
    }
    let known = replaced.union(binding.fields.map(\.id))
    for extra in try extras() where !known.contains(extra.id) {
      let content = unsafe extra.range.map {
        unsafe Content.present(UnsafeRawBufferPointer(rebasing: cold[$0]))
      }
      unsafe Self.write(extra.id, extra.type, content ?? .null, to: &writer)
    }
    return writer.bytes
  }

  private static func write(
    _ id: UInt32,
    _ type: String,
    _ content: Content,
    to writer: inout ByteWriter
  ) {
    writer.write(id)
    switch unsafe content {
    case .present(let bytes):
      writer.write(1 as UInt8)
      writer.writeSized(type)
      writer.write(UInt32(bytes.count))
      unsafe writer.append(bytes)
    case .null, .missing:
      writer.write(0 as UInt8)
      writer.writeSized(type)
      writer.write(0 as UInt32)
    }
  }
}
