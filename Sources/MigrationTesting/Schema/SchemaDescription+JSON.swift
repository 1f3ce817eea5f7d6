internal import ObjectStore

// The keys of the JSON files, which must never change: released files are compared for ever.

extension SchemaDescription: Codable {
  private enum CodingKeys: CodingKey {
    case format
    case models
    case version
  }

  /// The form of the files, which is missing in files of the first form.
  private static let format = 2

  /// Decodes a description.
  ///
  /// - Throws: `DecodingError` if the file is not one, or was written by a later version of this
  ///   library.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let format = try container.decodeIfPresent(Int.self, forKey: .format) ?? 1
    guard (1...Self.format).contains(format) else {
      throw DecodingError.dataCorruptedError(
        forKey: .format,
        in: container,
        debugDescription: "the file has format \(format): update MigrationTesting"
      )
    }
    self.init(
      version: try container.decode(UInt32.self, forKey: .version),
      models: try container.decode([Model].self, forKey: .models),
      isComplete: format > 1
    )
  }

  /// Encodes the description.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if isComplete { try container.encode(Self.format, forKey: .format) }
    try container.encode(version, forKey: .version)
    try container.encode(models, forKey: .models)
  }
}

extension SchemaDescription.Model: Codable {
  private enum CodingKeys: CodingKey {
    case name
    case fields
    case indexes
    case layout
    case retiredIDs
  }

  /// Decodes a model.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    let fields = try container.decode([FieldEntry].self, forKey: .fields)
    self.fields = fields.map(\.field)
    retiredIDs = try container.decode([UInt32].self, forKey: .retiredIDs)
    indexes =
      try container.decodeIfPresent([SchemaDescription.Index].self, forKey: .indexes)
      ?? fields.filter { $0.indexed == true }
      .map { SchemaDescription.Index(fieldIDs: [$0.field.id], isUnique: false) }
    let layout = try container.decodeIfPresent(String.self, forKey: .layout)
    guard let layout = StorageLayout.allCases.first(where: { $0.word == layout ?? $0.word }) else {
      throw DecodingError.dataCorruptedError(
        forKey: .layout,
        in: container,
        debugDescription: "'\(layout ?? "")' is not a layout"
      )
    }
    self.layout = layout
  }

  /// Encodes the model.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(fields.map { FieldEntry(field: $0) }, forKey: .fields)
    try container.encode(indexes, forKey: .indexes)
    try container.encode(layout.word, forKey: .layout)
    try container.encode(retiredIDs, forKey: .retiredIDs)
  }
}

extension SchemaDescription.Index: Codable {
  private enum CodingKeys: String, CodingKey {
    case fieldIDs = "fields"
    case isUnique = "unique"
  }

  /// Decodes an index.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    fieldIDs = try container.decode([UInt32].self, forKey: .fieldIDs)
    isUnique = try container.decode(Bool.self, forKey: .isUnique)
  }

  /// Encodes the index.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(fieldIDs, forKey: .fieldIDs)
    try container.encode(isUnique, forKey: .isUnique)
  }
}

/// A field in a file.
private struct FieldEntry: Codable {
  var field: SchemaDescription.Field
  /// Whether a field has an index; only in files of the first form.
  var indexed: Bool?

  enum CodingKeys: CodingKey {
    case id
    case name
    case type
    case optional
    case hasDefault
    case primaryKey
    case hot
    case columnar
    case target
    case onDelete
    case indexed
  }

  init(field: SchemaDescription.Field) { self.field = field }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    indexed = try container.decodeIfPresent(Bool.self, forKey: .indexed)
    field = SchemaDescription.Field(
      id: try container.decode(UInt32.self, forKey: .id),
      name: try container.decode(String.self, forKey: .name),
      type: try container.decode(String.self, forKey: .type),
      isOptional: try container.decode(Bool.self, forKey: .optional),
      hasDefault: try container.decodeIfPresent(Bool.self, forKey: .hasDefault) ?? false,
      isPrimaryKey: try container.decode(Bool.self, forKey: .primaryKey),
      isHot: try container.decode(Bool.self, forKey: .hot),
      isColumnar: try container.decodeIfPresent(Bool.self, forKey: .columnar) ?? false
    )
    guard let target = try container.decodeIfPresent(String.self, forKey: .target) else { return }
    let word = try container.decode(String.self, forKey: .onDelete)
    guard let rule = DeleteRule.allCases.first(where: { "\($0)" == word }) else {
      throw DecodingError.dataCorruptedError(
        forKey: .onDelete,
        in: container,
        debugDescription: "'\(word)' is not a delete rule"
      )
    }
    field.reference = SchemaDescription.Reference(target: target, onDelete: rule)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(field.id, forKey: .id)
    try container.encode(field.name, forKey: .name)
    try container.encode(field.type, forKey: .type)
    try container.encode(field.isOptional, forKey: .optional)
    try container.encode(field.hasDefault, forKey: .hasDefault)
    try container.encode(field.isPrimaryKey, forKey: .primaryKey)
    try container.encode(field.isHot, forKey: .hot)
    try container.encode(field.isColumnar, forKey: .columnar)
    guard let reference = field.reference else { return }
    try container.encode(reference.target, forKey: .target)
    try container.encode("\(reference.onDelete)", forKey: .onDelete)
  }
}

extension StorageLayout {
  /// The layout in a file.
  var word: String {
    switch self {
    case .sequential: "sequential"
    case .byKey: "byKey"
    }
  }
}
