internal import LMDB

extension ObjectStore {
  /// Writes every object of every model to a new file, one line of JSON each.
  ///
  /// One snapshot, read beside writers; while it is open, room freed by later writes is not used
  /// again. The first line describes the models, each other line is one object:
  ///
  /// ```json
  /// {"model":"Note","object":1,"fields":{"id":1,"text":"milk"}}
  /// ```
  ///
  /// Models come after those to which they refer, where they do not refer to each other. Every value
  /// reads back as the same, to the bit; `docs/format.md` says how each type is written.
  /// Embedded values are base64 of their bytes. The file appears under its name when it is complete
  /// and safe from a power cut.
  ///
  /// - Returns: How many objects were written.
  /// - Throws: ``StoreError`` with `alreadyExists` when there is a file of that name, `diskFull`,
  ///   `damaged` when a record cannot be read (``repair(at:into:)`` leaves such records
  ///   out), or `CancellationError` when the task is cancelled; then there is no file.
  /// - Complexity: O(n) in the bytes of the store; memory for one object.
  @discardableResult
  public func exportJSONLines(to path: String) throws -> Int {
    let file = try OutputFile(path)
    let count = try exportJSONLines { line in
      try file.write(line)
    }
    try file.finish()
    return count
  }

  /// Hands each line of an export to `body`, its line end included.
  ///
  /// - Returns: How many objects there are.
  /// - Throws: as ``exportJSONLines(to:)``, or what `body` throws.
  @discardableResult
  public func exportJSONLines(_ body: ([UInt8]) throws -> Void) throws -> Int {
    try readStored { transaction, schema in
      let references = try schema.metadata.references(in: transaction)
      let header = JSONLinesSchema(schema, references)
      var line: [UInt8] = []
      header.json.write(to: &line)
      line.append(0x0A)
      try body(line)
      var count = 0
      let order = ReferenceRule.targetsFirst(schema.models.map(\.tables.name), references)
      for entry in order.compactMap({ schema.model($0) }) {
        guard let model = header.model(entry.tables.name) else { continue }
        let keys = Dictionary(model.fields.map { ($0.field.id, $0.key) }) { first, _ in first }
        let reader = unsafe ModelReader(
          transaction: TransactionReference(transaction),
          tables: entry.tables
        )
        unsafe try reader.forEachRecord { id, record in
          if count.isMultiple(of: 1_000) { try Task.checkCancellation() }
          let object = try entry.object(record, id: id)
          line.removeAll(keepingCapacity: true)
          try object.json(keys: keys).write(to: &line)
          line.append(0x0A)
          try body(line)
          count += 1
          return true
        }
      }
      return count
    }
  }
}

extension StoredObject {
  /// The object's line.
  func json(keys: [UInt32: String]) throws -> JSONText {
    var members: [JSONText.Member] = []
    for field in fields {
      guard let key = keys[field.id] else {
        // A layout of the model has it: whoever carries a field along read it in a record of one.
        throw StoreError(.damaged, "object \(id) of \(model) has a field that no layout describes")
      }
      members.append(JSONText.Member(name: key, value: field.value.json))
    }
    return .object([
      .init(name: "model", value: .string(model)),
      .init(name: "object", value: .number("\(id)")),
      .init(name: "fields", value: .object(members)),
    ])
  }
}
