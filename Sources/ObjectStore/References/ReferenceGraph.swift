/// Which fields refer to which models, for all models of the store.
struct ReferenceGraph: Sendable {
  /// A field that may name an object that is to be deleted.
  struct Incoming: Sendable {
    let rule: ReferenceRule
    let fieldName: String
    /// The index over the field.
    let index: ModelTables.Index
    /// The model that has the field, when the program has opened the store with it.
    let referrer: Referrer?
  }

  /// A model that refers to another.
  struct Referrer: Sendable {
    let model: any Model.Type
    let tables: ModelTables
    /// The field's position in the program's schema, when that has it and can be without the
    /// reference.
    let losablePosition: Int?
  }

  /// A field of one of the program's models.
  struct Outgoing: Sendable {
    let rule: ReferenceRule
    let position: Int
    let fieldName: String
    /// The type of one reference.
    let keyType: FieldType
    let isCollection: Bool
    let target: ModelTables
  }

  private var incoming: [String: [Incoming]] = [:]
  private var outgoing: [String: [Outgoing]] = [:]

  /// The fields that refer to objects of the model.
  func incoming(to model: String) -> [Incoming] { incoming[model] ?? [] }

  /// The fields of the model of which each reference must name an object.
  func checked(of model: String) -> [Outgoing] { outgoing[model] ?? [] }

  mutating func append(_ field: Incoming) {
    guard field.rule.onDelete != .keep else { return }
    incoming[field.rule.target, default: []].append(field)
  }

  mutating func append(_ field: Outgoing) {
    guard field.rule.onDelete != .keep else { return }
    outgoing[field.rule.model, default: []].append(field)
  }
}

/// The references in the bytes of a field.
struct StoredReferences {
  /// Calls `body` with the key in each reference of a field.
  static func forEachKey(
    in content: RecordView.Content,
    type: FieldType,
    isCollection: Bool,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard case .present(let bytes) = unsafe content else { return }
    guard isCollection else { return unsafe try body(bytes) }
    var reader = unsafe ByteReader(bytes)
    for _ in 0..<(try reader.readCount()) { unsafe try body(reader.takeSized(type)) }
  }

  /// The bytes of a collection without the elements of those keys.
  static func removing(
    _ keys: Set<[UInt8]>,
    from bytes: UnsafeRawBufferPointer,
    type: FieldType
  ) throws(RecordError) -> [UInt8] {
    var reader = unsafe ByteReader(bytes)
    var writer = ByteWriter()
    writer.write(0 as UInt32)
    var kept: UInt32 = 0
    for _ in 0..<(try reader.readCount()) {
      let element = unsafe try reader.takeSized(type)
      guard unsafe !keys.contains(Array(element)) else { continue }
      kept += 1
      if type.width == nil { writer.write(UInt32(element.count)) }
      unsafe writer.append(element)
    }
    writer.patch(kept, at: 0)
    return writer.bytes
  }

  /// A key as a message has it.
  static func text(of key: some Collection<UInt8>, type: FieldType) -> String {
    switch type {
    case .string: return "'\(String(decoding: key, as: UTF8.self))'"
    case .unsigned, .signed:
      var word = key.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      guard case .signed(let bits) = type else { return "\(word)" }
      word <<= UInt64(64 - bits)
      return "\(Int64(bitPattern: word) >> Int64(64 - bits))"
    default: return Hexadecimal.encode(key)
    }
  }
}
