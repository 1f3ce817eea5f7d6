/// The objects of a query that have the same value in a column, as part of a list.
public struct Section<Value: Sendable>: Sendable {
  /// The value, `nil` where the field has none.
  public let value: Value?
  /// How many objects have it.
  public let count: Int
  /// How many objects the sections before this one have.
  public let offset: Int
}

extension Section: Equatable where Value: Equatable {}

extension ObjectReader where Self: ~Copyable {
  /// The different values of a column among the objects of the query, in the order of an index.
  ///
  /// The order, the offset and the limit of the query do not count.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(d log n) for d values of all objects where an index begins with the column,
  ///   otherwise as ``fetch(_:)->[M]``, reading the column alone.
  public func distinct<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    _ column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> [Value] {
    try groups(query, M.columns[keyPath: column], isCounting: false).compactMap(\.value)
  }

  /// The different values of an optional column among the objects of the query, `nil` first if some
  /// have none.
  ///
  /// As with a column that is not optional.
  public func distinct<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    _ column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> [Value?] {
    try groups(query, M.columns[keyPath: column].unwrapped, isCounting: false).map(\.value)
  }

  /// How many objects of the query there are of each value of a column, in the order of the values.
  ///
  /// They divide the list of `query.order(by: column)`, to which the offsets refer. The order, the
  /// offset and the limit of the query do not count.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(n) in the entries of an index on the column, without a look at records, when
  ///   the query has no condition; otherwise as ``fetch(_:)->[M]``, reading the column alone.
  public func sections<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    by column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> [Section<Value>] {
    try groups(query, M.columns[keyPath: column], isCounting: true)
  }

  /// How many objects of the query there are of each value of an optional column, those without one
  /// first.
  ///
  /// As with a column that is not optional.
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
      "objects are not grouped by a field of type \(type)"
    )
    guard let reader = unsafe try source.reader(of: M.self) else { return [] }
    let groups: [ColumnGroup]
    if query.predicate.node.isAlways,
      let index = unsafe reader.indexOfWholeValues(at: column.position)
    {
      groups = unsafe try reader.groups(in: index, at: column.position, isCounting: isCounting)
    } else {
      var counts = ContentCounts(type)
      let core = try QueryCore(query.predicate, in: source)
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

/// The objects that have the same bytes in a field.
private struct ColumnGroup {
  /// `nil` where the field has no value.
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

/// Counts fields by what they hold.
private struct ContentCounts {
  private let type: FieldType
  /// By index key, which is the same for values that are the same.
  private var counts: [[UInt8]: (bytes: [UInt8], count: Int)] = [:]
  private var nilCount = 0

  init(_ type: FieldType) {
    self.type = type
  }

  mutating func add(_ content: RecordView.Content) {
    guard case .present(let bytes) = unsafe content else {
      nilCount += 1
      return
    }
    let key = unsafe KeyEncoding.key(for: bytes, type: type, longestContent: .max)
    if counts[key]?.count == nil { counts[key] = (unsafe Array(bytes), 0) }
    counts[key]?.count += 1
  }

  func sorted() -> [ColumnGroup] {
    let values = counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { ColumnGroup(bytes: $0.value.bytes, count: $0.value.count) }
    return nilCount == 0 ? values : [ColumnGroup(bytes: nil, count: nilCount)] + values
  }
}

extension ModelReader {
  /// An index that begins with the field, has every object once, and never cuts the field's values.
  fileprivate func indexOfWholeValues(at position: Int) -> ModelTables.Index? {
    unsafe tables.indexes.first { index in
      index.collectionPart == nil && index.parts[0].position == position
        && index.parts[0].width != nil
    }
  }

  /// The groups of the first field of an index; the count is 1 unless they are counted.
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
          unsafe "an index of \(tables.name) names object \(id), which is not there"
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
        let walk = unsafe try IndexScan(self, index, [own])
        count = 0
        while unsafe try walk.next() != nil { count += 1 }
      }
      groups.append(ColumnGroup(bytes: bytes, count: count))
      guard let upper = own.upper else { return groups }
      range = KeyRange(lower: upper, upper: nil)
    }
    return groups
  }
}
