/// A group of query results that have the same value in a column.
public struct Section<Value: Sendable>: Sendable {
  /// The value; `nil` for the objects whose field is `nil`.
  public let value: Value?
  /// The number of objects with the value.
  public let count: Int
  /// The number of objects in all preceding sections.
  public let offset: Int
}

extension Section: Equatable where Value: Equatable {}

extension ObjectReader where Self: ~Copyable {
  /// Returns the distinct values of a column among the matches of a query, in index order.
  ///
  /// The order, the offset and the limit of the query have no effect.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(d log n) for d distinct values if the query has no condition and an index
  ///   starts with the column; otherwise as ``fetch(_:)->[M]``, reading only the column.
  public func distinct<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    _ column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> [Value] {
    try groups(query, M.columns[keyPath: column], isCounting: false).compactMap(\.value)
  }

  /// Returns the distinct values of an optional column among the matches of a query.
  ///
  /// `nil` comes first if it occurs. Otherwise as for a column that is not optional.
  public func distinct<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    _ column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> [Value?] {
    try groups(query, M.columns[keyPath: column].unwrapped, isCounting: false).map(\.value)
  }

  /// Returns the number of matches for each value of a column, in the order of the values.
  ///
  /// ```swift
  /// for section in try tx.sections(Note.all, by: \.rank) {
  ///   print(section.value ?? 0, section.count)
  /// }
  /// ```
  ///
  /// The sections divide the results of `query.order(by: column)`, to which their offsets refer.
  /// The order, the offset and the limit of the query itself have no effect.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(n) in the entries of an index that starts with the column, with one record
  ///   read per section, if the query has no condition; otherwise as ``fetch(_:)->[M]``, reading
  ///   only the column.
  public func sections<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    by column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> [Section<Value>] {
    try groups(query, M.columns[keyPath: column], isCounting: true)
  }

  /// Returns the number of matches for each value of an optional column, `nil` first.
  ///
  /// Otherwise as for a column that is not optional.
  public func sections<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    by column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> [Section<Value>] {
    try groups(query, M.columns[keyPath: column].unwrapped, isCounting: true)
  }

  private func groups<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    _ column: Column<M, Value>,
    isCounting: Bool
  ) throws -> [Section<Value>] {
    let type = Value.fieldType
    precondition(
      type.isIndexable && type.indexedElement == nil,
      "cannot group by a field of type \(type)"
    )
    guard let reader = unsafe try source.reader(of: M.self) else { return [] }
    let groups: [ColumnGroup]
    if query.filter.node.isAlways,
      let index = unsafe reader.indexOfWholeValues(at: column.position)
    {
      groups = unsafe try reader.groups(in: index, at: column.position, isCounting: isCounting)
    } else {
      var counts = ValueCounts(type)
      let core = try ResolvedQuery(query.filter, in: source)
      unsafe try source.forEachContent(core, of: M.self, at: column.position) {
        unsafe counts.add($0)
      }
      groups = counts.sorted()
    }
    var offset = 0
    return try groups.map { group in
      defer { offset += group.count }
      return Section(
        value: try group.decode(Value.self, M.schema, column.position),
        count: group.count,
        offset: offset
      )
    }
  }
}

/// The objects with equal values in a field.
private struct ColumnGroup {
  /// The stored value; `nil` when the field is `nil`.
  let bytes: [UInt8]?
  let count: Int

  func decode<Value: FieldValue>(
    _ type: Value.Type,
    _ schema: ModelSchema,
    _ position: Int
  ) throws -> Value? {
    try bytes.map { bytes in
      try unsafe bytes.withUnsafeBytes { bytes in
        do throws(RecordError) {
          var reader = unsafe ByteReader(bytes)
          return try Value(from: &reader)
        } catch {
          throw StoreError(
            .damaged,
            "\(schema.fields[position].name) of an object of \(schema.name) is damaged",
            cause: error
          )
        }
      }
    }
  }
}

/// Counts the distinct values of a field.
private struct ValueCounts {
  private let type: FieldType
  /// Keyed by index key, because equal values may have different stored bytes but have the same
  /// key.
  private var counts: [[UInt8]: (bytes: [UInt8], count: Int)] = [:]
  /// The form of numbers, which are counted by their words: their order is that of the keys.
  private let form: NumberForm?
  private var numbers: [UInt64: (bits: UInt64, count: Int)] = [:]
  private var nilCount = 0

  init(_ type: FieldType) {
    self.type = type
    form = NumberForm(type)
  }

  mutating func add(_ content: RecordView.Content) {
    guard case .present(let bytes) = unsafe content else {
      nilCount += 1
      return
    }
    if let form, bytes.count == form.width, let base = bytes.baseAddress {
      let bits = unsafe form.bits(base)
      numbers[form.word(bits: bits), default: (bits, 0)].count += 1
      return
    }
    let key = unsafe KeyEncoding.key(for: bytes, type: type, maximumContentSize: .max)
    if counts[key]?.count == nil { counts[key] = (unsafe Array(bytes), 0) }
    counts[key]?.count += 1
  }

  func sorted() -> [ColumnGroup] {
    var values = counts.sorted { $0.key.precedes($1.key) }
      .map { ColumnGroup(bytes: $0.value.bytes, count: $0.value.count) }
    if let form {
      values += numbers.sorted { $0.key < $1.key }.map { _, number in
        let bytes = (0..<form.width).map {
          UInt8(truncatingIfNeeded: number.bits >> UInt64(8 * $0))
        }
        return ColumnGroup(bytes: bytes, count: number.count)
      }
    }
    return nilCount == 0 ? values : [ColumnGroup(bytes: nil, count: nilCount)] + values
  }
}

extension ModelReader {
  /// Returns an index that starts with the field, has one entry per object and never truncates the
  /// field's values.
  fileprivate func indexOfWholeValues(at position: Int) -> ModelTables.Index? {
    unsafe tables.indexes.first { index in
      index.collectionPart == nil && index.parts[0].position == position
        && index.parts[0].isExact && index.parts[0].width != nil
    }
  }

  /// Returns the groups of the index's first field; their counts are 1 unless `isCounting`.
  fileprivate func groups(
    in index: ModelTables.Index,
    at position: Int,
    isCounting: Bool
  ) throws -> [ColumnGroup] {
    var groups: [ColumnGroup] = []
    var records = unsafe try RecordLookup(self)
    let parts = unsafe tables.parts(ofFieldsAt: [position])
    var range = KeyRange(lower: [], upper: nil)
    while let id = unsafe try IndexScan(self, index, [range]).nextID() {
      guard let record = unsafe try records.record(id, parts: parts) else {
        throw StoreError(
          .damaged,
          unsafe "an index of \(tables.name) refers to object \(id), which does not exist"
        )
      }
      var key = ByteWriter()
      var bytes: [UInt8]?
      do throws(RecordError) {
        if case .present(let content) = unsafe try record.content(at: position) {
          bytes = unsafe Array(content)
          unsafe KeyEncoding.append(content, index.parts[0].form, to: &key)
        } else {
          key.write(KeyEncoding.null)
        }
      } catch {
        throw StoreError(error, model: unsafe tables.name, objectID: id)
      }
      let own = KeyRange.prefix(key.bytes)
      var count = 1
      if isCounting {
        let scan = unsafe try IndexScan(self, index, [own])
        count = 0
        while unsafe try scan.next() != nil { count += 1 }
      }
      groups.append(ColumnGroup(bytes: bytes, count: count))
      guard let upper = own.upper else { return groups }
      range = KeyRange(lower: upper, upper: nil)
    }
    return groups
  }
}
