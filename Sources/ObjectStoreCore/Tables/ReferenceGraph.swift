internal import LMDB

/// The reference fields of all models of the store.
struct ReferenceGraph: Sendable {
  /// A reference field, seen from its target.
  struct Incoming: Sendable {
    let rule: ReferenceRule
    let fieldName: String
    /// The index over the field.
    let index: ModelTables.Index
    /// The model that has the field; `nil` when the program does not declare it.
    let referrer: Referrer?
  }

  /// A model with a reference field, which the program declares.
  struct Referrer: Sendable {
    let model: any Model.Type
    /// The field's position in the program's schema; `nil` when the schema does not declare it, or
    /// declares it as neither optional nor a collection.
    let nullablePosition: Int?
  }

  /// A reference field of a model that the program declares.
  struct Outgoing: Sendable {
    let rule: ReferenceRule
    let position: Int
    let fieldName: String
    /// The type of one reference's key.
    let keyType: FieldType
    let isCollection: Bool
    let target: ModelTables
  }

  private var incoming: [String: [Incoming]] = [:]
  private var outgoing: [String: [Outgoing]] = [:]

  /// Returns the fields that refer to objects of a model, except those with ``DeleteRule/keep``.
  func incoming(to model: String) -> [Incoming] { incoming[model] ?? [] }

  /// Returns the fields of a model whose targets must exist.
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

/// Operations on the stored form of a reference field.
package struct StoredReferences {
  /// Calls `body` with the key of each reference in a field.
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

  /// Returns the stored form of a collection without the elements that have the given keys.
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

  /// Returns a description of a key for messages.
  package static func text(of key: some Collection<UInt8>, type: FieldType) -> String {
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

extension ReferenceGraph {
  /// Reads the stored reference rules and opens the indexes needed to find referring objects.
  ///
  /// Rules whose target the program does not declare are skipped: the program cannot delete such
  /// objects.
  init(
    _ models: [StoreSchema.Entry],
    _ metadata: Metadata,
    in transaction: borrowing ReadTransaction
  ) throws {
    self.init()
    for rule in try metadata.references(in: transaction) {
      guard
        let target = models.first(where: { $0.model.schema.name == rule.target })?.tables
      else { continue }
      if let entry = models.first(where: { $0.model.schema.name == rule.model }) {
        guard let tables = entry.tables else { continue }
        try append(rule, of: entry.model, tables, target: target)
      } else {
        try append(rule, target: target, metadata, in: transaction)
      }
    }
  }

  /// Adds a field of a model that the program declares.
  private mutating func append(
    _ rule: ReferenceRule,
    of model: any Model.Type,
    _ tables: ModelTables,
    target: ModelTables
  ) throws {
    let index = tables.indexes.first { index in
      index.parts.count == 1 && index.parts[0].fieldID == rule.fieldID
    }
    guard let index else { throw Self.missingIndex(rule) }
    let position = index.parts[0].position
    let field = position.flatMap { tables.current?.fields[$0] }
    let isCollection = index.collectionPart != nil
    let isNullable = isCollection || field?.isOptional == true
    append(
      Incoming(
        rule: rule,
        fieldName: field?.name ?? "field \(rule.fieldID)",
        index: index,
        referrer: Referrer(
          model: model,
          nullablePosition: isNullable ? position : nil
        )
      )
    )
    guard let position, let field else { return }
    append(
      Outgoing(
        rule: rule,
        position: position,
        fieldName: field.name,
        keyType: index.parts[0].elementType,
        isCollection: isCollection,
        target: target
      )
    )
  }

  /// Adds a field of a model that the program does not declare.
  private mutating func append(
    _ rule: ReferenceRule,
    target: ModelTables,
    _ metadata: Metadata,
    in transaction: borrowing ReadTransaction
  ) throws {
    let description = try metadata.indexes(of: rule.model, in: transaction).first { index in
      index.parts.count == 1 && index.parts[0].fieldID == rule.fieldID
    }
    let layouts = try metadata.layouts(of: rule.model, in: transaction)
    let names = ModelTableNames(rule.model, layouts.storage ?? .sequential)
    guard
      let description,
      let database = try transaction.openDatabase(names.index(description.id))
    else { throw Self.missingIndex(rule) }
    let layout = layouts.last
    let name = layout.flatMap { layout in
      layout.position(ofID: rule.fieldID).map { layout.fields[$0].name }
    }
    append(
      Incoming(
        rule: rule,
        fieldName: name ?? "field \(rule.fieldID)",
        index: ModelTables.Index(
          description,
          database: database,
          own: RecordLayout(fields: []),
          defaults: .none,
          layouts: layouts
        ),
        referrer: nil
      )
    )
  }

  private static func missingIndex(_ rule: ReferenceRule) -> StoreError {
    StoreError(
      .damaged,
      "the field \(rule.fieldID) of \(rule.model) refers to \(rule.target), but has no index"
    )
  }
}
