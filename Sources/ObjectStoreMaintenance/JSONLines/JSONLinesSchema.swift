package import ObjectStoreCore

/// The schema in the first line of a JSON Lines file.
package struct JSONLinesSchema {
  static let name = "ObjectStore JSON lines"
  static let version = 1

  package struct Model {
    package var name: String
    package var storage = StorageLayout.sequential
    /// The fields, each with its key in the lines.
    package var fields: [(key: String, field: RecordLayout.Field)]
    package var indexes: [IndexDescription]
    package var columns: [ColumnDescription]
    package var references: [ReferenceRule]

    package func field(_ key: String) -> RecordLayout.Field? {
      fields.first { $0.key.utf8.elementsEqual(key.utf8) }?.field
    }
  }

  var schemaVersion: UInt32 = 0
  package var models: [Model]

  func model(_ name: String) -> Model? { models.first { $0.name == name } }

  /// The fields of a model by the bytes of their keys in the lines.
  struct FieldsByKey {
    var fields: [[UInt8]: RecordLayout.Field]
    var primaryKey: RecordLayout.Field?
  }

  /// The fields of all models, by model.
  var fieldsByKey: [String: FieldsByKey] {
    Dictionary(
      models.map { model in
        let fields = model.fields.map { (Array($0.key.utf8), $0.field) }
        return (
          model.name,
          FieldsByKey(
            fields: Dictionary(fields) { first, _ in first },
            primaryKey: model.fields.first(where: \.field.isPrimaryKey)?.field
          )
        )
      },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Creates the schema of a store, without reference rules that the models contradict.
  ///
  /// The fields are in the order of their ids, and a field that is optional in any layout is
  /// optional, so that the schema does not depend on the order in which layouts were added.
  package init(_ schema: StoredSchema, _ references: [ReferenceRule]) {
    schemaVersion = schema.version
    models = schema.models.map { entry in
      Model(
        name: entry.tables.name,
        storage: entry.tables.storage,
        fields: Self.keyed(Self.fields(of: entry)),
        indexes: entry.tables.maintainedIndexes.map(\.description),
        columns: entry.tables.columns.map(\.description),
        references: []
      )
    }
    let check = ReferenceRuleCheck(models)
    let rules = Dictionary(grouping: references.filter(check.isValid), by: \.model)
    for (position, model) in models.enumerated() {
      models[position].references = rules[model.name] ?? []
    }
  }

  private static func fields(of entry: StoredSchema.Entry) -> [RecordLayout.Field] {
    let optional = Set(
      entry.layouts.flatMap { $0.fields.filter(\.isOptional).map(\.id) }
    )
    return entry.fields.sorted { $0.id < $1.id }.map { field in
      var field = RecordLayout.Field(field)
      field.isOptional = optional.contains(field.id)
      return field
    }
  }

  /// Returns the fields with unique keys.
  ///
  /// A field's key is its name. If an earlier field has the same name, `#` and the field's id are
  /// appended.
  private static func keyed(
    _ fields: [RecordLayout.Field]
  ) -> [(key: String, field: RecordLayout.Field)] {
    var taken: Set<[UInt8]> = []
    return fields.map { field in
      var key = field.name
      while !taken.insert(Array(key.utf8)).inserted { key += "#\(field.id)" }
      return (key, field)
    }
  }

  // MARK: JSON

  /// The first line of a file.
  var json: JSONValue {
    .object([
      .init(name: "format", value: .string(Self.name)),
      .init(name: "version", value: .number("\(Self.version)")),
      .init(name: "schemaVersion", value: .number("\(schemaVersion)")),
      .init(name: "models", value: .array(models.map(\.json))),
    ])
  }

  /// Whether a line is a header and not an object.
  static func isHeader(_ json: JSONValue) -> Bool { json["format"] == .string(name) }

  /// Decodes the first line of a file.
  ///
  /// - Throws: ``JSONLinesError`` for line 1.
  package init(json: JSONValue) throws {
    guard json["version"] == .number("\(Self.version)") else {
      throw JSONLinesError(line: 1, reason: "unsupported version of the format")
    }
    guard case .array(let models) = json["models"] else {
      throw JSONLinesError(line: 1, reason: "'models' is not a list")
    }
    if let version = json["schemaVersion"] {
      guard case .number(let digits) = version, let version = UInt32(digits) else {
        throw JSONLinesError(
          line: 1,
          reason: "'schemaVersion' is not a whole number from 0 to \(UInt32.max)"
        )
      }
      schemaVersion = version
    }
    self.models = try models.map { try Model(json: $0) }
    guard Set(self.models.map(\.name)).count == models.count else {
      throw JSONLinesError(line: 1, reason: "two models have the same name")
    }
    let check = ReferenceRuleCheck(self.models)
    guard self.models.allSatisfy({ $0.references.allSatisfy(check.isValid) }) else {
      throw JSONLinesError(line: 1, reason: "a reference is invalid")
    }
  }
}

/// A check of reference rules against the models that they name.
private struct ReferenceRuleCheck {
  private struct Field: Hashable {
    var model: String
    var id: UInt32
  }

  /// The types of the primary keys, by model.
  private var keys: [String: FieldType] = [:]
  /// The types of the fields with an index of their own.
  private var indexed: [Field: FieldType] = [:]

  init(_ models: [JSONLinesSchema.Model]) {
    for model in models {
      let indexes = Set(model.indexes.map(\.id))
      for (_, field) in model.fields {
        if field.isPrimaryKey { keys[model.name] = field.type }
        if indexes.contains(field.id) {
          indexed[Field(model: model.name, id: field.id)] = field.type
        }
      }
    }
  }

  /// Whether the field is indexed and has the type of the target's primary key.
  func isValid(_ rule: ReferenceRule) -> Bool {
    guard let type = indexed[Field(model: rule.model, id: rule.fieldID)],
      let key = keys[rule.target]
    else { return false }
    return (type.indexedElement ?? type) == key
  }
}

extension JSONLinesSchema.Model {
  fileprivate var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "name", value: .string(name)),
      .init(
        name: "fields",
        value: .array(
          fields.map { key, field in
            .object([
              .init(name: "key", value: .string(key)),
              .init(name: "name", value: .string(field.name)),
              .init(name: "id", value: .number("\(field.id)")),
              .init(name: "type", value: .string(field.type.description)),
              .init(name: "optional", value: .bool(field.isOptional)),
              .init(name: "hot", value: .bool(field.isHot)),
              .init(name: "primaryKey", value: .bool(field.isPrimaryKey)),
            ])
          }
        )
      ),
      .init(
        name: "indexes",
        value: .array(
          indexes.map { index in
            .object([
              .init(
                name: "fields",
                value: .array(index.parts.map { .number("\($0.fieldID)") })
              ),
              .init(name: "unique", value: .bool(index.isUnique)),
            ])
          }
        )
      ),
      .init(
        name: "references",
        value: .array(
          references.map { rule in
            .object([
              .init(name: "field", value: .number("\(rule.fieldID)")),
              .init(name: "target", value: .string(rule.target)),
              .init(name: "onDelete", value: .string("\(rule.onDelete)")),
            ])
          }
        )
      ),
    ]
    // Sequential ids and no columns are the default: lines of such models do not name them.
    if storage != .sequential {
      members.append(.init(name: "layout", value: .string("\(storage)")))
    }
    if !columns.isEmpty {
      let ids = columns.map { JSONValue.number("\($0.fieldID)") }
      members.append(.init(name: "columns", value: .array(ids)))
    }
    return .object(members)
  }

  fileprivate init(json: JSONValue) throws {
    guard case .string(let name) = json["name"], case .array(let fields) = json["fields"] else {
      throw JSONLinesError(line: 1, reason: "a model has no name or no fields")
    }
    func failure(_ reason: String) -> JSONLinesError {
      JSONLinesError(line: 1, reason: "model \(name.shownName): \(reason)")
    }
    guard ModelSchema.isName(name) else { throw failure("invalid model name") }
    guard fields.count <= RecordLayout.maximumFieldCount else {
      throw failure("it has more than \(RecordLayout.maximumFieldCount) fields")
    }
    self.name = name
    if case .string(let layout) = json["layout"] {
      guard let known = StorageLayout.allCases.first(where: { "\($0)" == layout }) else {
        throw failure("the layout '\(layout.shownName)' is unknown")
      }
      storage = known
    }
    self.fields = try fields.map { json in
      guard case .string(let fieldName) = json["name"], case .string(let type) = json["type"],
        FieldSchema.isName(fieldName), type.utf8.count <= 1_000,
        let type = FieldType(type)
      else { throw failure("a field has an invalid name or an unknown type") }
      var key = fieldName
      if case .string(let given) = json["key"] { key = given }
      var id = FieldSchema.id(forName: fieldName)
      if case .number(let digits) = json["id"] {
        guard let given = UInt32(digits) else { throw failure("a field's id is invalid") }
        id = given
      }
      let field = RecordLayout.Field(
        id: id,
        name: fieldName,
        type: type,
        isOptional: json["optional"] == .bool(true),
        isHot: json["hot"] == .bool(true),
        isPrimaryKey: json["primaryKey"] == .bool(true)
      )
      return (key, field)
    }
    let keys = self.fields.filter(\.field.isPrimaryKey)
    guard keys.count == 1, !keys[0].field.isOptional, !keys[0].field.isHot,
      Set(self.fields.map(\.field.id)).count == fields.count,
      Set(self.fields.map { Array($0.key.utf8) }).count == fields.count
    else { throw failure("there is not exactly one primary key, or a field occurs twice") }
    // A layout with such a name is outdated: no object is written in it (`OutdatedLayouts`).
    guard !keys[0].field.name.utf8.contains(UInt8(ascii: "@")) else {
      throw failure("the name of the primary key contains '@', which is reserved")
    }
    (indexes, columns, references) = ([], [], [])
    let types = Dictionary(uniqueKeysWithValues: self.fields.map { ($0.field.id, $0.field.type) })
    if case .array(let indexes) = json["indexes"] {
      self.indexes = try indexes.map { json in
        guard let index = Self.index(json, types) else { throw failure("an index is invalid") }
        return index
      }
    }
    if case .array(let columns) = json["columns"] {
      self.columns = try columns.map { json in
        guard let column = Self.column(json, types) else { throw failure("a column is invalid") }
        return column
      }
      guard storage == .sequential || self.columns.isEmpty else {
        throw failure("a model that is stored by key cannot have columns")
      }
    }
    guard case .array(let references) = json["references"] else { return }
    self.references = try references.map { json in
      guard let rule = rule(json) else { throw failure("a reference is invalid") }
      return rule
    }
  }

  private func rule(_ json: JSONValue) -> ReferenceRule? {
    guard case .number(let digits) = json["field"], let id = UInt32(digits),
      case .string(let target) = json["target"], case .string(let name) = json["onDelete"],
      let onDelete = DeleteRule.allCases.first(where: { "\($0)" == name })
    else { return nil }
    return ReferenceRule(model: self.name, fieldID: id, target: target, onDelete: onDelete)
  }

  private static func column(
    _ json: JSONValue,
    _ types: [UInt32: FieldType]
  ) -> ColumnDescription? {
    guard case .number(let digits) = json, let id = UInt32(digits), let type = types[id],
      ColumnDescription.supports(type)
    else { return nil }
    return ColumnDescription(fieldID: id, type: type)
  }

  private static func index(
    _ json: JSONValue,
    _ types: [UInt32: FieldType]
  ) -> IndexDescription? {
    guard case .array(let ids) = json["fields"] else { return nil }
    var parts: [IndexDescription.Part] = []
    for id in ids {
      guard case .number(let digits) = id, let id = UInt32(digits), let type = types[id],
        type.isIndexable
      else { return nil }
      parts.append(IndexDescription.Part(fieldID: id, type: type))
    }
    guard (1...IndexDescription.maximumPartCount).contains(parts.count),
      Set(parts.map(\.fieldID)).count == parts.count,
      parts.count(where: { $0.type.indexedElement != nil }) <= 1
    else { return nil }
    return IndexDescription(parts: parts, isUnique: json["unique"] == .bool(true))
  }
}
