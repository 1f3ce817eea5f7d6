/// One stored object, of which single fields are read without decoding the others.
///
/// ```swift
/// let received = try tx.withView(Download.self, url) { view in try view.received }
/// ```
///
/// A field is read by the name of its column. Fields that seldom change and those that change often
/// lie apart; each part is looked up when a field of it is asked for. A view is lent and cannot be
/// kept.
@safe  // Although it holds what points into the map: it is noncopyable and only ever lent.
@dynamicMemberLookup
public struct ObjectView<Root: Model>: ~Copyable {
  private let reader: ModelReader
  private let id: UInt64
  private var record: RecordView
  /// The parts of the record that are there.
  private var parts: RecordParts
  /// The parts that were asked for.
  private(set) var asked: RecordParts = []

  init(
    _ reader: ModelReader,
    _ id: UInt64,
    _ record: consuming RecordView,
    parts: RecordParts
  ) {
    unsafe self.reader = unsafe reader
    self.id = id
    self.record = record
    self.parts = parts
  }

  @usableFromInline
  init(_ reader: ModelReader, _ found: consuming ModelReader.Found) {
    unsafe self.reader = unsafe reader
    id = found.id
    record = unsafe found.record.copy
    parts = .cold
  }

  /// A view of what `found` keeps meanwhile.
  @usableFromInline
  init(_ reader: ModelReader, lending found: borrowing ModelReader.Found) {
    unsafe self.reader = unsafe reader
    id = found.id
    record = unsafe found.record.copy
    parts = .cold
  }

  /// The value of the field.
  ///
  /// - Throws: ``StoreError`` with `damaged`, or `missingField` when the object was stored before the
  ///   field existed.
  @inlinable
  public subscript<Value: FieldValue>(
    dynamicMember column: KeyPath<Root.Columns, Column<Root, Value>>
  ) -> Value {
    mutating get throws {
      let position = Root.columns[keyPath: column].position
      guard case .present(let bytes) = unsafe try content(at: position) else {
        throw missingField(position)
      }
      return unsafe try decode(bytes, position)
    }
  }

  /// The value of the optional field; `nil` too when the object was stored before the field existed.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  @inlinable
  public subscript<Value: FieldValue>(
    dynamicMember column: KeyPath<Root.Columns, Column<Root, Value?>>
  ) -> Value? {
    mutating get throws {
      let position = Root.columns[keyPath: column].position
      guard case .present(let bytes) = unsafe try content(at: position) else { return nil }
      return unsafe try decode(bytes, position)
    }
  }

  /// Lends the bytes of the field as they are stored, without a copy: of a text its UTF-8.
  ///
  /// - Returns: What `body` returns.
  /// - Throws: ``StoreError`` with `damaged` or `missingField`, or what `body` throws.
  @inlinable
  public mutating func withBytes<Value: FieldValue, Result>(
    _ column: KeyPath<Root.Columns, Column<Root, Value>>,
    _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result {
    let position = Root.columns[keyPath: column].position
    guard case .present(let bytes) = unsafe try content(at: position) else {
      throw missingField(position)
    }
    return unsafe try body(bytes.bindMemory(to: UInt8.self).span)
  }

  /// Lends the bytes of the optional field as they are stored, without a copy: of a text its UTF-8.
  ///
  /// - Returns: What `body` returns, or `nil` when the field has no value.
  /// - Throws: ``StoreError`` with `damaged`, or what `body` throws.
  @inlinable
  public mutating func withBytes<Value: FieldValue, Result>(
    _ column: KeyPath<Root.Columns, Column<Root, Value?>>,
    _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    let position = Root.columns[keyPath: column].position
    guard case .present(let bytes) = unsafe try content(at: position) else { return nil }
    return unsafe try body(bytes.bindMemory(to: UInt8.self).span)
  }

  /// The whole object.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  public mutating func object() throws -> Root {
    try load(.all)
    return unsafe try reader.decode(record, id)
  }

  // MARK: Without the types

  /// The bytes of a field, after its part was looked up if need be.
  @unsafe
  @usableFromInline
  mutating func content(at position: Int) throws -> RecordView.Content {
    let place = unsafe record.places[position]
    let needed: RecordParts = place.exists && place.isHot ? .hot : .cold
    if !parts.isSuperset(of: needed) || !asked.isSuperset(of: needed) { try load(needed) }
    do throws(RecordError) {
      return unsafe try record.content(at: position)
    } catch {
      throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
    }
  }

  private mutating func load(_ needed: RecordParts) throws {
    asked.formUnion(needed)
    guard !needed.isSubset(of: parts) else { return }
    let whole = parts.union(needed)
    if parts == .cold {
      guard unsafe record.binding.hasHotFields else {
        parts = whole
        return
      }
      // The cold part has been checked.
      let hot = unsafe try reader.hotPart(of: id)
      do throws(RecordError) {
        guard let hot = unsafe hot else { throw RecordError(.missingHotPart) }
        record = unsafe try record.adding(hot)
      } catch {
        throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
      }
    } else {
      guard let found = unsafe try reader.record(id, parts: whole) else {
        throw StoreError(
          .damaged,
          "object \(id) of \(unsafe reader.tables.name) is listed, but has no record"
        )
      }
      record = found
    }
    parts = whole
  }

  @inlinable
  func decode<Value: FieldValue>(
    _ bytes: UnsafeRawBufferPointer,
    _ position: Int
  ) throws -> Value {
    do throws(RecordError) {
      var reader = unsafe ByteReader(bytes)
      return try Value(from: &reader)
    } catch {
      throw damage(error, position)
    }
  }

  @usableFromInline
  func damage(_ error: RecordError, _ position: Int) -> StoreError {
    StoreError(
      RecordError(error.code, field: record.name(at: position)),
      model: unsafe reader.tables.name,
      objectID: id
    )
  }

  @usableFromInline
  func missingField(_ position: Int) -> StoreError {
    StoreError(
      .missingField,
      "object \(id) of \(unsafe reader.tables.name) was stored without a value for "
        + "\(record.name(at: position) ?? "the field"): read the whole object"
    )
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Lends a view of the object of that primary key to `body`; `nil` when there is none.
  ///
  /// Allocates nothing by itself.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or what `body` throws.
  /// - Complexity: O(log n) in the objects of the model.
  @inlinable
  public func withView<M: Model, Result>(
    _ model: M.Type,
    _ key: M.PrimaryKey,
    _ body: (inout ObjectView<M>) throws -> Result
  ) throws -> Result? {
    guard let reader = unsafe try source.reader(of: model) else { return nil }
    var result: Result?
    unsafe try key.withStoredBytes { bytes in
      guard let found = unsafe try reader.findCold(bytes) else { return }
      var view = unsafe ObjectView<M>(reader, found)
      result = try body(&view)
    }
    return result
  }

  /// What `transform` makes of the objects of the query, of which it reads single fields.
  ///
  /// ```swift
  /// let names = try tx.fetch(Download.all) { view in (try view.url, try view.received) }
  /// ```
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or what `transform` throws;
  ///   `CancellationError`.
  /// - Complexity: As ``fetch(_:)->[M]``, without the decoding of other fields; parts of records that
  ///   neither the query nor `transform` reads are not read.
  public func fetch<M: Model, Result>(
    _ query: Query<M>,
    _ transform: (inout ObjectView<M>) throws -> Result
  ) throws -> [Result] {
    precondition(
      query.sortOrder != nil,
      "a query in an order by computed values gives whole objects alone"
    )
    guard let reader = unsafe try source.reader(of: M.self) else { return [] }
    var results: [Result] = []
    // What the first objects are asked for is looked up together for those after them.
    var asked: RecordParts = []
    var executor = unsafe try QueryExecutor(reader, QueryCore(query, in: source))
    unsafe try executor.forEach(requested: asked) { id, record in
      var view = unsafe ObjectView<M>(reader, id, copyOf: record)
      results.append(try transform(&view))
      asked.formUnion(view.asked)
      return true
    }
    return results
  }
}

extension ObjectView {
  init(_ reader: ModelReader, _ id: UInt64, copyOf record: borrowing RecordView) {
    var parts: RecordParts = []
    if unsafe record.cold.baseAddress != nil { parts.insert(.cold) }
    if unsafe record.hot.baseAddress != nil { parts.insert(.hot) }
    unsafe self.init(reader, id, record.copy, parts: parts)
  }
}
