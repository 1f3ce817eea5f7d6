internal import LMDB

extension Store {
  /// Returns the object with a primary key, without the model's Swift type.
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - key: A value of the type of the model's primary key.
  /// - Returns: The object; `nil` if there is none with that key.
  /// - Throws: ``StoreError`` with `unknownModel`, `damaged`, or `invalidInput` if the value is not
  ///   of the type of the key.
  /// - Complexity: O(log n) in the number of objects.
  ///
  /// ```swift
  /// let note = try store.storedObject(of: "Note", key: .signed(42))
  /// ```
  public func storedObject(of model: String, key: StoredValue) throws -> StoredObject? {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      guard let field = entry.fields.first(where: \.isPrimaryKey),
        let bytes = try? key.bytes(as: field.type)
      else {
        throw StoreError(.invalidInput, "\(key) is not a primary key of \(model)")
      }
      return try entry.tables.withRecord(ofKey: bytes, in: transaction) { id, record in
        try entry.object(record, id: id)
      }
    }
  }

  /// Calls `body` with each object of a model that meets all conditions, until it returns `false`.
  ///
  /// All objects come from one snapshot. Uses an index on the field of a condition if there is one;
  /// otherwise reads every record, but decodes only the matches.
  ///
  /// ```swift
  /// let order = StoredOrder(fieldID: rank.id, direction: .descending)
  /// try store.forEachStoredObject(of: "Note", where: [isHigh], order: order, limit: 10) { note in
  ///   print(note["title"] ?? .null)
  ///   return true
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - conditions: The conditions.
  ///   - order: The order; `nil` for the order in which the objects were inserted, or that of the
  ///     keys for a model that is stored by key. To sort, only the field of the order is decoded,
  ///     and only the keys are in memory: of the first `limit` objects, or of all.
  ///   - limit: The maximum number of objects.
  ///   - body: A closure that returns whether to continue with the next object.
  /// - Throws: As ``forEachStoredObject(of:from:_:)``; `CancellationError`.
  public func forEachStoredObject(
    of model: String,
    where conditions: [StoredCondition],
    order: StoredOrder? = nil,
    limit: Int = .max,
    _ body: (StoredObject) throws -> Bool
  ) throws {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      guard limit > 0 else { return }
      let scan = StoredScan(test: StoredTest(conditions, entry), entry: entry)
      guard order != nil || scan.isInOrderOfKeys else {
        var count = 0
        return try scan.forEach(in: transaction) { id, record in
          count += 1
          return try body(try entry.object(record, id: id)) && count < limit
        }
      }
      let ids = try scan.sortedIDs(order, limit: limit, in: transaction)
      try entry.tables.forEachRecord(of: ids, in: transaction) { id, record in
        try body(try entry.object(record, id: id))
      }
    }
  }
}

extension Store {
  /// Calls `body` with some of the objects of a model that meet all conditions, in the order of their
  /// ids, until it returns `false`.
  ///
  /// For output to a slow reader: the snapshot is closed between two calls, so that it keeps no freed
  /// pages from reuse. Objects that are inserted or deleted between two calls may be missing or not; all
  /// others are visited once. Uses no index.
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - conditions: The conditions.
  ///   - id: The smallest object id to visit.
  ///   - count: The maximum number of objects to test, from 1.
  ///   - body: A closure that returns whether to continue with the next object.
  /// - Returns: The id to continue from; `nil` once all objects were visited.
  /// - Throws: As ``forEachStoredObject(of:from:_:)``.
  package func visitStoredObjects(
    of model: String,
    where conditions: [StoredCondition],
    from id: UInt64,
    testing count: Int,
    _ body: (StoredObject) throws -> Bool
  ) throws -> UInt64? {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      let test = StoredTest(conditions, entry)
      var rest = count
      var isStopped = false
      var next: UInt64?
      try entry.tables.forEachRecord(in: transaction, from: id) { id, record in
        guard rest > 0, !isStopped else {
          next = id
          return false
        }
        rest -= 1
        if try test.matches(record, id) {
          isStopped = try !body(try entry.object(record, id: id))
        }
        return true
      }
      return next
    }
  }

  /// Returns the ids of the objects of a model that meet all conditions, in an order.
  ///
  /// For sorted output to a slow reader, with ``visitStoredObjects(of:where:withIDs:_:)``.
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - conditions: The conditions.
  ///   - order: The order.
  ///   - limit: The maximum number of ids.
  /// - Returns: The ids; eight bytes each, and while they are sorted also the values of the order.
  /// - Throws: As ``forEachStoredObject(of:where:order:limit:_:)``.
  package func storedObjectIDs(
    of model: String,
    where conditions: [StoredCondition],
    order: StoredOrder,
    limit: Int
  ) throws -> [UInt64] {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      let scan = StoredScan(test: StoredTest(conditions, entry), entry: entry)
      return try scan.sortedIDs(order, limit: limit, in: transaction)
    }
  }

  /// Calls `body` with the objects that have these ids and meet all conditions, in the order of the
  /// ids, until it returns `false`.
  ///
  /// All objects come from one snapshot. An object that was deleted, or that meets the conditions no
  /// longer, is left out.
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - conditions: The conditions.
  ///   - ids: The ids.
  ///   - body: A closure that returns whether to continue with the next object.
  /// - Returns: The number of ids up to the last object that was visited, or of all.
  /// - Throws: As ``forEachStoredObject(of:from:_:)``.
  package func visitStoredObjects(
    of model: String,
    where conditions: [StoredCondition],
    withIDs ids: some Collection<UInt64>,
    _ body: (StoredObject) throws -> Bool
  ) throws -> Int {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      let test = StoredTest(conditions, entry)
      for (index, id) in ids.enumerated() {
        let goesOn = try entry.tables.withRecord(id, in: transaction) { record in
          try !test.matches(record, id) || body(try entry.object(record, id: id))
        }
        if goesOn == false { return index + 1 }
      }
      return ids.count
    }
  }

  /// Returns the number of objects of a model that meet all conditions.
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - conditions: The conditions; empty to count all objects, which reads none of them.
  ///   - limit: The number at which counting ends.
  /// - Returns: The number of objects, at most `limit`.
  /// - Throws: As ``forEachStoredObject(of:where:order:limit:_:)``.
  public func countStoredObjects(
    of model: String,
    where conditions: [StoredCondition] = [],
    limit: Int = .max
  ) throws -> Int {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      guard limit > 0 else { return 0 }
      guard !conditions.isEmpty else {
        return min(limit, try transaction.count(of: entry.tables.records))
      }
      let scan = StoredScan(test: StoredTest(conditions, entry), entry: entry)
      var count = 0
      try scan.forEach(in: transaction) { _, _ in
        count += 1
        return count < limit
      }
      return count
    }
  }
}

extension Store {
  /// Returns how ``forEachStoredObject(of:where:order:limit:_:)`` finds its objects; reads none.
  ///
  /// - Throws: ``StoreError`` with `unknownModel` or `damaged`.
  package func explainStoredObjects(
    of model: String,
    where conditions: [StoredCondition],
    order: StoredOrder? = nil
  ) throws -> StoredQueryPlan {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      let path = StoredTest(conditions, entry).path
      return StoredQueryPlan(
        model: model,
        objectCount: try transaction.count(of: entry.tables.records),
        indexFields: path?.index.parts.map { entry.names[$0.fieldID] ?? "#\($0.fieldID)" },
        isOneValue: path?.isOneValue ?? false,
        isSorted: order != nil
      )
    }
  }

  /// Returns the fields of all models that are references: the model, the field and its target.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  package func storedReferences() throws -> [ReferenceRule] {
    try readStored { transaction, schema in try schema.metadata.references(in: transaction) }
  }
}

/// How a query without Swift types finds its objects.
package struct StoredQueryPlan: Sendable, Hashable, CustomStringConvertible {
  /// The name of the model.
  package var model: String
  /// The number of objects of the model.
  package var objectCount: Int
  /// The fields of the index that is used; `nil` if every object is read.
  package var indexFields: [String]?
  /// Whether the entries of one value of the index are read, not those of a range.
  package var isOneValue: Bool
  /// Whether the matches are sorted.
  package var isSorted: Bool

  /// One line, such as `index on state (one value), then sort`.
  package var description: String {
    let access =
      indexFields.map { fields in
        "index on \(fields.joined(separator: ", ")) (\(isOneValue ? "one value" : "a range"))"
      } ?? "scan of all \(objectCount) objects of \(model)"
    return access + (isSorted ? ", then sort" : "")
  }
}

/// Finds the records of one model that meet conditions.
private struct StoredScan {
  let test: StoredTest
  let entry: StoredSchema.Entry

  /// Whether the matches are found in the order of the keys of an index, not in that of their ids.
  var isInOrderOfKeys: Bool { test.path.map { !$0.isOneValue } ?? false }

  /// Calls `body` with each match, until `body` returns `false`.
  func forEach(
    in transaction: borrowing ReadTransaction,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard let path = test.path else {
      var cancellation = CancellationCheck()
      return try entry.tables.forEachRecord(in: transaction) { id, record in
        try cancellation.step()
        return try !test.matches(record, id) || body(id, record)
      }
    }
    try entry.tables.forEachRecord(of: path.index, path.range, in: transaction) { id, record in
      try !test.matches(record, id) || body(id, record)
    }
  }

  /// Returns the ids of the first matches in an order; without one, in that of the ids.
  func sortedIDs(
    _ order: StoredOrder?,
    limit: Int,
    in transaction: borrowing ReadTransaction
  ) throws -> [UInt64] {
    var keys = KeySelection(limit: limit)
    var key = ByteWriter()
    try forEach(in: transaction) { id, record in
      if let order {
        let value = try entry.value(ofFieldWithID: order.fieldID, in: record, id)
        order.write(value, id, to: &key)
      } else {
        key.removeAll()
        key.write(id.bigEndian)
      }
      keys.insert(key)
      return true
    }
    return keys.sortedIDs()
  }
}

extension StoredSchema.Entry {
  /// Returns the value of one field; ``StoredValue/null`` for a record without the field, if the
  /// store has no default for it.
  package func value(
    ofFieldWithID fieldID: UInt32,
    in record: borrowing RecordView,
    _ id: UInt64
  ) throws -> StoredValue {
    do throws(RecordError) {
      guard let field = fields.first(where: { $0.id == fieldID }) else { return .null }
      return try record.value(ofID: fieldID, type: field.type)
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }
}

/// Tests records of one model.
private struct StoredTest {
  private let conditions: [StoredCondition]
  private let entry: StoredSchema.Entry
  /// The types of the fields by id.
  private let types: [UInt32: FieldType]

  init(_ conditions: [StoredCondition], _ entry: StoredSchema.Entry) {
    self.conditions = conditions
    self.entry = entry
    types = Dictionary(entry.fields.map { ($0.id, $0.type) }) { first, _ in first }
  }

  /// The entries of an index among which all matches are; `nil` if no index serves a condition.
  ///
  /// Entries with equal keys are in the order of their object ids. The entries of one value precede
  /// a range of values. The records are tested, because a range may contain others.
  var path: (index: ModelTables.Index, range: KeyRange, isOneValue: Bool)? {
    var found: (index: ModelTables.Index, range: KeyRange, isOneValue: Bool)?
    for condition in conditions {
      for index in entry.tables.indexes
      where index.parts.count == 1 && index.parts[0].fieldID == condition.fieldID
        && index.parts[0].isExact
      {
        guard let (range, isOneValue) = condition.test.keys(in: index) else { continue }
        if isOneValue { return (index, range, true) }
        if found == nil { found = (index, range, false) }
      }
    }
    return found
  }

  func matches(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    do throws(RecordError) {
      for condition in conditions {
        guard try matches(record, condition) else { return false }
      }
      return true
    } catch {
      throw StoreError(error, model: entry.tables.name, objectID: id)
    }
  }

  private func matches(
    _ record: borrowing RecordView,
    _ condition: StoredCondition
  ) throws(RecordError) -> Bool {
    guard let type = types[condition.fieldID] else { return condition.test.matches(.null) }
    return condition.test.matches(try record.value(ofID: condition.fieldID, type: type))
  }
}

extension RecordView {
  /// Decodes a field; ``StoredValue/null`` if it has no value and no default.
  fileprivate func value(ofID id: UInt32, type: FieldType) throws(RecordError) -> StoredValue {
    let value = try withBytes(ofID: id) { bytes throws(RecordError) in
      try StoredValue(bytes, type: type)
    }
    return value ?? .null
  }
}

extension StoredSchema {
  /// Returns a model.
  ///
  /// - Throws: ``StoreError`` with `unknownModel`.
  package func requireModel(_ name: String, path: String) throws -> Entry {
    guard let entry = model(name) else {
      throw StoreError(.unknownModel, "\(path) has no model \(name)")
    }
    return entry
  }
}
