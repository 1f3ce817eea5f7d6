internal import LMDB

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A condition on one field of a model, for code that does not have the model's Swift type.
package struct StoredCondition: Sendable, Hashable {
  /// The comparison of the stored value.
  package enum Test: Sendable, Hashable {
    /// The field has this value; ``StoredValue/null`` also matches a record without the field.
    case equals(StoredValue)
    /// The field is a date in the range.
    case isDate(Range<Date>)
    /// The field is an array or a set with this element.
    case contains(StoredValue)
  }

  /// The id of the field.
  package var fieldID: UInt32
  /// The comparison.
  package var test: Test

  /// Creates a condition.
  package init(fieldID: UInt32, test: Test) {
    self.fieldID = fieldID
    self.test = test
  }
}

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
  package func storedObject(of model: String, key: StoredValue) throws -> StoredObject? {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      guard let field = entry.fields.first(where: \.isPrimaryKey),
        let bytes = try? key.bytes(as: field.type)
      else {
        throw StoreError(.invalidInput, "\(key) is not a primary key of \(model)")
      }
      let reader = unsafe ModelReader(
        transaction: TransactionReference(transaction),
        tables: entry.tables
      )
      return try unsafe bytes.withUnsafeBytes { bytes in
        guard let found = unsafe try reader.find(bytes) else { return nil }
        return try entry.object(found.record, id: found.id)
      }
    }
  }

  /// Calls `body` with each object of a model that meets all conditions, until it returns `false`.
  ///
  /// All objects come from one snapshot. Uses an index on the field of a condition if there is one;
  /// otherwise reads every record, but decodes only the matches.
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - conditions: The conditions.
  ///   - order: The order; `nil` for the order in which the objects were inserted. To sort, only the
  ///     field of the order is decoded, and only the keys are in memory: of the first `limit`
  ///     objects, or of all.
  ///   - limit: The maximum number of objects.
  ///   - body: A closure that returns whether to continue with the next object.
  /// - Throws: As ``forEachStoredObject(of:from:_:)``; `CancellationError`.
  package func forEachStoredObject(
    of model: String,
    where conditions: [StoredCondition],
    order: StoredOrder? = nil,
    limit: Int = .max,
    _ body: (StoredObject) throws -> Bool
  ) throws {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      guard limit > 0 else { return }
      let reader = unsafe ModelReader(
        transaction: TransactionReference(transaction),
        tables: entry.tables
      )
      let scan = StoredScan(test: StoredTest(conditions, entry), entry: entry)
      guard let order else {
        var count = 0
        return unsafe try scan.forEach(reader) { id, record in
          count += 1
          return try body(try entry.object(record, id: id)) && count < limit
        }
      }
      var keys = KeySelection(limit: limit)
      var key = ByteWriter()
      unsafe try scan.forEach(reader) { id, record in
        let value = try entry.value(ofFieldWithID: order.fieldID, in: record, id)
        order.write(value, id, to: &key)
        _ = unsafe keys.insert(key.buffer)
        return true
      }
      var records = unsafe try RecordLookup(reader)
      for id in keys.sortedIDs() {
        let record = unsafe try entry.existing(records.record(id, parts: .all), id)
        guard try body(try entry.object(record, id: id)) else { return }
      }
    }
  }
}

/// Finds the records of one model that meet conditions.
private struct StoredScan {
  let test: StoredTest
  let entry: StoredSchema.Entry

  /// Calls `body` with each match in insertion order, until `body` returns `false`.
  func forEach(
    _ reader: ModelReader,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    var cancellation = CancellationCheck()
    guard let path = test.path else {
      return unsafe try reader.forEachRecord { id, record in
        try cancellation.step()
        guard try test.matches(record, id) else { return true }
        return try body(id, record)
      }
    }
    var records = unsafe try RecordLookup(reader)
    let scan = unsafe try IndexScan(reader, path.index, [path.range])
    while let id = unsafe try scan.nextID() {
      let record = unsafe try entry.existing(records.record(id, parts: .all), id)
      guard try test.matches(record, id) else { continue }
      guard try body(id, record) else { return }
    }
  }
}

extension StoredSchema.Entry {
  /// Returns a record that an index or a scan has found.
  fileprivate func existing(_ record: consuming RecordView?, _ id: UInt64) throws -> RecordView {
    guard let record else {
      throw StoreError(
        .damaged,
        "an index of \(tables.name) refers to object \(id), which does not exist"
      )
    }
    return record
  }

  /// Returns the value of one field; ``StoredValue/null`` for a record without the field, if the
  /// store has no default for it.
  package func value(
    ofFieldWithID fieldID: UInt32,
    in record: borrowing RecordView,
    _ id: UInt64
  ) throws -> StoredValue {
    do throws(RecordError) {
      guard let field = fields.first(where: { $0.id == fieldID }),
        case .present(let bytes) = unsafe try record.content(ofID: fieldID)
      else { return .null }
      return unsafe try StoredValue(bytes, type: field.type)
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
  /// Entries with equal keys are in the order of their object ids. A long string is truncated in
  /// the key, so the records are tested.
  var path: (index: ModelTables.Index, range: KeyRange)? {
    for condition in conditions {
      guard
        let index = entry.tables.indexes.first(where: { index in
          index.parts.count == 1 && index.parts[0].fieldID == condition.fieldID
            && index.parts[0].isExact
        })
      else { continue }
      let value: StoredValue
      switch condition.test {
      case .equals(.null), .isDate: continue
      case .equals(let whole):
        guard index.collectionPart == nil else { continue }
        value = whole
      case .contains(let element):
        guard index.collectionPart != nil else { continue }
        value = element
      }
      let type = index.parts[0].elementType
      guard let bytes = try? value.bytes(as: type) else { continue }
      let key = unsafe bytes.withUnsafeBytes { bytes in
        unsafe KeyEncoding.key(
          for: bytes,
          type: type,
          maximumContentSize: index.maximumContentSize
        )
      }
      return (index, .prefix(key))
    }
    return nil
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
    var stored = StoredValue.null
    let content = unsafe try record.content(ofID: condition.fieldID)
    if case .present(let bytes) = unsafe content, let type = types[condition.fieldID] {
      stored = unsafe try StoredValue(bytes, type: type)
    }
    switch (condition.test, stored) {
    case (.equals(let value), _): return stored == value
    case (.contains(let element), .array(let elements)),
      (.contains(let element), .set(let elements)):
      return elements.contains(element)
    case (.isDate(let dates), .date(let date)): return dates.contains(date)
    case (.isDate, _), (.contains, _): return false
    }
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
