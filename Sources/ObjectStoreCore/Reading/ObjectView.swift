/// A stored object whose fields are decoded one at a time.
///
/// ```swift
/// let received = try tx.withView(Download.self, key: url) { view in try view.received }
/// ```
///
/// Read a field by the name of its column. Hot fields, which change often, are stored apart from
/// cold fields; each part is read when one of its fields is first accessed. A view is valid only
/// inside the closure that receives it.
@safe  // It points into the memory map, but it is noncopyable and only passed `inout` to a closure.
@dynamicMemberLookup
public struct ObjectView<Root: Model>: ~Copyable {
  private let reader: ModelReader
  private let id: UInt64
  private var record: RecordView
  /// The parts of the record that have been read.
  private var parts: RecordParts
  /// The parts whose fields have been accessed.
  private(set) var accessedParts: RecordParts = []

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
    parts = found.record.isConverted ? .all : .cold
    record = found.record
  }

  /// Creates a view of a record that `found` keeps valid.
  @usableFromInline
  init(_ reader: ModelReader, lending found: borrowing ModelReader.Found) {
    unsafe self.reader = unsafe reader
    id = found.id
    parts = found.record.isConverted ? .all : .cold
    record = unsafe found.record.copy
  }

  /// The decoded value of the field.
  ///
  /// - Throws: ``StoreError`` with `damaged`, or with `missingField` when the object was stored
  ///   before the field existed, and that has no default.
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

  /// The decoded value of the optional field.
  ///
  /// `nil` also when the object was stored before the field existed, and that has no default.
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

  /// Calls `body` with the stored bytes of the field, without copying them.
  ///
  /// The stored bytes of a string are its UTF-8. The span is valid until `body` returns.
  ///
  /// ```swift
  /// let length = try tx.withView(Note.self, key: 1) { (note: inout ObjectView<Note>) in
  ///   try note.withBytes(\.text) { bytes in bytes.count }
  /// }
  /// ```
  ///
  /// - Returns: The result of `body`.
  /// - Throws: ``StoreError`` with `damaged` or `missingField`, or the error of `body`.
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

  /// Calls `body` with the stored bytes of the optional field, without copying them.
  ///
  /// The stored bytes of a string are its UTF-8. The span is valid until `body` returns.
  ///
  /// - Returns: The result of `body`, or `nil` when the field has no value.
  /// - Throws: ``StoreError`` with `damaged`, or the error of `body`.
  @inlinable
  public mutating func withBytes<Value: FieldValue, Result>(
    _ column: KeyPath<Root.Columns, Column<Root, Value?>>,
    _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    let position = Root.columns[keyPath: column].position
    guard case .present(let bytes) = unsafe try content(at: position) else { return nil }
    return unsafe try body(bytes.bindMemory(to: UInt8.self).span)
  }

  /// Decodes the whole object.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  public mutating func object() throws -> Root {
    try load(.all)
    return unsafe try reader.decode(record, id)
  }

  // MARK: Untyped access

  /// Returns the stored content of a field, reading its part of the record first if necessary.
  @unsafe
  @usableFromInline
  mutating func content(at position: Int) throws -> RecordView.Content {
    let place = unsafe record.places[position]
    let needed: RecordParts = place.exists && place.isHot ? .hot : .cold
    if !parts.isSuperset(of: needed) || !accessedParts.isSuperset(of: needed) { try load(needed) }
    do throws(RecordError) {
      return unsafe try record.content(at: position)
    } catch {
      throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
    }
  }

  private mutating func load(_ needed: RecordParts) throws {
    accessedParts.formUnion(needed)
    guard !needed.isSubset(of: parts) else { return }
    let whole = parts.union(needed)
    if parts == .cold {
      guard unsafe record.binding.hasHotFields else {
        parts = whole
        return
      }
      // The cold part is already verified, so only the hot part is read.
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
          "object \(id) of \(unsafe reader.tables.name) has an entry in the key table but no record"
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
  /// Calls `body` with a view of the object with the given primary key.
  ///
  /// Makes no heap allocation of its own.
  ///
  /// - Returns: The result of `body`, or `nil` when no such object exists.
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or the error of `body`.
  /// - Complexity: O(log n) in the number of objects of the model.
  @inlinable
  public func withView<M: Model, Result>(
    _ model: M.Type,
    key: M.PrimaryKey,
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

  /// Returns the results of calling `transform` with a view of each match of a query.
  ///
  /// ```swift
  /// let names = try tx.fetch(Download.all) { view in (try view.url, try view.received) }
  /// ```
  ///
  /// - Precondition: The query has no computed sort key.
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or the error of `transform`;
  ///   `CancellationError`.
  /// - Complexity: As ``fetch(_:)->[M]``, but only the fields that `transform` accesses are
  ///   decoded, and record parts that neither the query nor `transform` needs are not read.
  public func fetch<M: Model, Result>(
    _ query: Query<M>,
    _ transform: (inout ObjectView<M>) throws -> Result
  ) throws -> [Result] {
    precondition(
      query.sortOrder != nil,
      "a query with a computed sort key cannot be read through views; fetch whole objects"
    )
    guard let reader = unsafe try source.reader(of: M.self) else { return [] }
    var results: [Result] = []
    // Parts that `transform` accessed for earlier objects are read up front for later ones.
    var accessedParts: RecordParts = []
    var executor = unsafe try QueryExecutor(reader, ResolvedQuery(query, in: source))
    unsafe try executor.forEach(requested: accessedParts) { id, record in
      var view = unsafe ObjectView<M>(reader, id, copyOf: record)
      results.append(try transform(&view))
      accessedParts.formUnion(view.accessedParts)
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
