internal import ObjectStoreCore
internal import ObjectStoreMaintenance

/// The models of a store after a migration, which decide how its objects are stored.
struct MigrationTarget {
  /// A model, and the combinations of fields that its objects have had so far.
  struct Model {
    let name: String
    let storage: StorageLayout
    /// The fields of the program's model, or those in the store if the program does not declare it.
    let fields: [Field]
    let isDeclared: Bool
    fileprivate(set) var shapes: [Shape] = []

    fileprivate func field(named name: String) -> Field? { fields.first { $0.layout.name == name } }
    fileprivate func field(withID id: UInt32) -> Field? { fields.first { $0.layout.id == id } }

    /// The declared field that a field of an object is; `nil` if the model does not declare it.
    ///
    /// A field keeps its id until a step renames it. One with an id that the model does not declare is
    /// the field of its name only if the object does not have that one: the model may have given the
    /// name another id, because the type is another one.
    fileprivate func field(
      for field: MigratedObject.Field,
      of object: MigratedObject
    ) -> Field? {
      guard let id = field.id else { return self.field(named: field.name) }
      if let own = self.field(withID: id) { return own }
      guard let named = self.field(named: field.name), named.layout.type == field.type,
        !object.fields.contains(where: { $0.id == named.layout.id })
      else { return nil }
      return named
    }

    /// Gives the fields without a value the declared types, because `nil` has no type; returns whether
    /// one had another type.
    fileprivate func retypeEmptyFields(of object: inout MigratedObject) -> Bool {
      var isChanged = false
      for (position, field) in object.fields.enumerated() {
        guard case .null = field.content,
          let type = self.field(for: field, of: object)?.layout.type,
          type != field.type
        else { continue }
        object.retypeEmptyField(at: position, type)
        isChanged = true
      }
      return isChanged
    }
  }

  struct Field {
    let layout: RecordLayout.Field
    /// Whether an object without the field cannot be read.
    let isRequired: Bool
    /// The value that an object without the field gets; `nil` if it gets none.
    var fallback: [UInt8]?
  }

  /// A combination of fields, with the layout in which such objects are stored.
  struct Shape {
    fileprivate let names: [String]
    fileprivate let ids: [UInt32?]
    fileprivate let types: [FieldType]
    let layout: RecordLayout
    /// The position in the object of each field of the layout.
    let positions: [Int]
    /// The position in the object of the primary key.
    let key: Int
    /// The fields with a default that the objects lack.
    fileprivate let missing: [Field]

    fileprivate func fits(_ object: MigratedObject) -> Bool {
      guard object.fields.count == names.count else { return false }
      for (number, field) in object.fields.enumerated() {
        guard field.id == ids[number], field.name == names[number], field.type == types[number]
        else { return false }
      }
      return true
    }
  }

  /// An object that is ready to be stored.
  struct Entry {
    let object: MigratedObject
    /// The object before the migration, for errors.
    let source: MigrationOrigin
    /// The position in ``models``.
    let model: Int
    let shape: Int
  }

  private(set) var models: [Model]
  private var positions: [String: Int]

  /// Creates the target.
  ///
  /// - Parameters:
  ///   - declared: The models of the program.
  ///   - stored: The models of the store, as the steps describe them.
  ///   - defaults: The defaults that the store has for the fields of each model.
  init(
    declared: [ModelSchema],
    stored: [JSONLinesSchema.Model],
    defaults: [String: StoredDefaults]
  ) {
    models = declared.map { schema in
      Model(
        name: schema.name,
        storage: schema.layout,
        fields: zip(RecordLayout(schema).fields, schema.fields).map { layout, field in
          let known = defaults[schema.name]?[field.id].flatMap { $0.type == field.type ? $0 : nil }
          return Field(
            layout: layout,
            isRequired: !field.isOptional && !field.hasDefault,
            fallback: schema.defaults[field.id].map { known?.bytes ?? $0 }
          )
        },
        isDeclared: true
      )
    }
    let names = Set(declared.map(\.name))
    models += stored.filter { !names.contains($0.name) }.map { model in
      Model(
        name: model.name,
        storage: model.storage,
        fields: model.fields.map { Field(layout: $0.field, isRequired: $0.field.isPrimaryKey) },
        isDeclared: false
      )
    }
    positions = Dictionary(uniqueKeysWithValues: models.enumerated().map { ($1.name, $0) })
  }

  /// Returns the object as it is to be stored.
  ///
  /// - Throws: ``StoreError`` with the reason why it cannot be.
  mutating func entry(
    _ object: MigratedObject,
    from source: MigrationOrigin
  ) throws -> Entry {
    guard let position = positions[object.model] else {
      throw StoreError(
        .unknownModel,
        "neither the program nor the store has a model \(object.model)"
      )
    }
    let shape: Int
    if let known = models[position].shapes.firstIndex(where: { $0.fits(object) }) {
      shape = known
    } else {
      var object = object
      guard !models[position].retypeEmptyFields(of: &object) else {
        return try entry(object, from: source)
      }
      models[position].shapes.append(try Self.shape(of: object, in: models[position]))
      shape = models[position].shapes.count - 1
    }
    let own = models[position].shapes[shape]
    if !own.missing.isEmpty {
      var object = object
      for field in own.missing {
        object.add(field.layout.name, id: field.layout.id, field.layout.type, field.fallback ?? [])
      }
      return try entry(object, from: source)
    }
    for (field, place) in zip(own.layout.fields, own.positions) where !field.isOptional {
      guard case .null = object.fields[place].content else { continue }
      if models[position].field(withID: field.id)?.isRequired == true {
        throw StoreError(.missingField, "\(object.model).\(field.name) is nil, but not optional")
      }
      // It was optional. Without the field, the object gets the default value.
      var object = object
      object.removeField(at: place)
      return try entry(object, from: source)
    }
    return Entry(object: object, source: source, model: position, shape: shape)
  }

  private static func shape(of object: MigratedObject, in model: Model) throws -> Shape {
    var taken: [UInt32: Int] = [:]
    var others: [(position: Int, field: RecordLayout.Field)] = []
    for (position, field) in object.fields.enumerated() {
      guard let own = model.field(for: field, of: object) else {
        guard let id = field.id ?? (model.isDeclared ? nil : FieldSchema.id(forName: field.name))
        else {
          throw StoreError(
            .schemaMismatch,
            "a step sets \(object.model).\(field.name), which the model does not declare"
          )
        }
        others.append((position, Self.unknown(field, id: id)))
        continue
      }
      guard own.layout.type == field.type else {
        throw StoreError(
          .schemaMismatch,
          """
          \(object.model).\(field.name) is of type \(field.type), but the model declares \
          \(own.layout.type): set it in a step by this name, or rename it there
          """
        )
      }
      guard taken.updateValue(position, forKey: own.layout.id) == nil else {
        throw StoreError(
          .schemaMismatch,
          "two fields are \(object.model).\(own.layout.name): remove one of them in a step"
        )
      }
    }
    if let missing = model.fields.first(where: { $0.isRequired && taken[$0.layout.id] == nil }) {
      throw StoreError(
        .missingField,
        """
        \(object.model).\(missing.layout.name) has no value, and the model has no default: set it \
        in a step
        """
      )
    }
    var fields: [RecordLayout.Field] = []
    var positions: [Int] = []
    for field in model.fields {
      guard let position = taken[field.layout.id] else { continue }
      fields.append(field.layout)
      positions.append(position)
    }
    // Fields that the model does not declare keep their values.
    for (position, field) in others where taken[field.id] == nil {
      fields.append(field)
      positions.append(position)
    }
    guard let key = zip(fields, positions).first(where: \.0.isPrimaryKey)?.1 else {
      throw StoreError(.missingField, "an object of \(object.model) has no primary key")
    }
    return Shape(
      names: object.fields.map(\.name),
      ids: object.fields.map(\.id),
      types: object.fields.map(\.type),
      layout: RecordLayout(fields: fields, storage: model.storage),
      positions: positions,
      key: key,
      missing: model.fields.filter { $0.fallback != nil && taken[$0.layout.id] == nil }
    )
  }

  private static func unknown(_ field: MigratedObject.Field, id: UInt32) -> RecordLayout.Field {
    RecordLayout.Field(
      id: id,
      name: field.name,
      type: field.type,
      isOptional: true,
      isHot: false,
      isPrimaryKey: false
    )
  }
}
