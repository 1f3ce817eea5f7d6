internal import LMDB
public import ObjectStoreCore

extension Store {
  /// Exports every object of every model to a new JSON Lines file.
  ///
  /// The export reads one snapshot while writers continue. Until it ends, pages freed by writes are
  /// not reused. The first line describes the models. Each other line is one object:
  ///
  /// ```json
  /// {"model":"Note","object":1,"fields":{"id":1,"text":"milk"}}
  /// ```
  ///
  /// A model's objects follow those of the models it refers to, unless the models refer to each
  /// other. Every value is imported bit for bit as it was exported. `docs/format.md` describes the
  /// encoding of each type; embedded values are the base64 of their bytes. The file appears under
  /// its name once it is complete and synced to disk.
  ///
  /// - Parameter path: The file to create. It must not exist.
  /// - Returns: The number of exported objects.
  /// - Throws: ``StoreError`` with `alreadyExists`, `notFound`, `permissionDenied`, `diskFull`,
  ///   `inputOutput`, `other`, or `damaged` if a record cannot be read
  ///   (``repair(at:into:models:schemaVersion:)`` skips such records); `CancellationError` if the task is cancelled. The file is then not created.
  /// - Complexity: O(n) in the bytes of the store. Uses memory for one object.
  @discardableResult
  public func exportJSONLines(to path: String) throws -> Int {
    let file = try OutputFile(path)
    let count = try exportJSONLines { line in
      try file.write(line)
    }
    try file.finish()
    return count
  }

  /// Calls `body` with each line of an export, including its line feed.
  ///
  /// - Parameters:
  ///   - isIncluded: Whether the export contains an object; by default every object. It is called
  ///     for each object in the order of the export.
  ///   - body: Receives the lines.
  /// - Returns: The number of exported objects.
  /// - Throws: ``StoreError`` with `damaged` if a record cannot be read; `busy` if objects are
  ///   converted when they are read (see ``Store/conversions()``); `CancellationError` if the
  ///   task is cancelled; any error that `body` throws.
  @discardableResult
  public func exportJSONLines(
    where isIncluded: (StoredObject) throws -> Bool = { _ in true },
    _ body: ([UInt8]) throws -> Void
  ) throws -> Int {
    try readStored { transaction, schema in
      try schema.requireConverted("an export")
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
        try entry.tables.forEachRecord(in: transaction) { id, record in
          if id.isMultiple(of: 1_000) { try Task.checkCancellation() }
          let object = try entry.object(record, id: id)
          guard try isIncluded(object) else { return true }
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
  /// Returns the object's line, with the fields in the order of their ids.
  func json(keys: [UInt32: String]) throws -> JSONValue {
    var members: [JSONValue.Member] = []
    for field in fields.sorted(by: { $0.id < $1.id }) {
      guard let key = keys[field.id] else {
        // Every field of a valid record is described by a layout: a field that a program carries
        // along without knowing it was read from a record with such a layout.
        throw StoreError(.damaged, "object \(id) of \(model) has a field that no layout describes")
      }
      members.append(JSONValue.Member(name: key, value: field.value.json))
    }
    return .object([
      .init(name: "model", value: .string(model)),
      .init(name: "object", value: .number("\(id)")),
      .init(name: "fields", value: .object(members)),
    ])
  }
}
