internal import LMDB

extension ReferenceGraph {
  /// Reads what the store says of references, and opens the indexes that answer who refers to what
  /// the program can delete.
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

  /// Adds a field of one of the program's models.
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
    let canLose = isCollection || field?.isOptional == true
    append(
      Incoming(
        rule: rule,
        fieldName: field?.name ?? "field \(rule.fieldID)",
        index: index,
        referrer: Referrer(
          model: model,
          tables: tables,
          losablePosition: canLose ? position : nil
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

  /// Adds a field of a model that the program does not know.
  private mutating func append(
    _ rule: ReferenceRule,
    target: ModelTables,
    _ metadata: Metadata,
    in transaction: borrowing ReadTransaction
  ) throws {
    let description = try metadata.indexes(of: rule.model, in: transaction).first { index in
      index.parts.count == 1 && index.parts[0].fieldID == rule.fieldID
    }
    guard
      let description,
      let database = try transaction.openDatabase(TableName.index(rule.model, description.id))
    else { throw Self.missingIndex(rule) }
    let layout = try metadata.layouts(of: rule.model, in: transaction).last
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
          own: RecordLayout(fields: [])
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
