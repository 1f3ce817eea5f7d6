/// A stored record whose fields are decoded directly from the memory map.
///
/// Every access is checked against the end of the record: damaged bytes cause an error, never a
/// trap. A view is lent; it is noncopyable and must not outlive the call that received it.
@safe  // It holds pointers, but it is noncopyable, only ever lent, and checks each access.
public struct RecordView: ~Copyable {
  /// Empty when only hot fields are read.
  package let cold: UnsafeRawBufferPointer
  /// Empty when the layout has no hot fields, or when only cold fields are read.
  package let hot: UnsafeRawBufferPointer
  package let hasExtras: Bool
  /// Whether the view allocated its bytes, and frees them.
  private let ownsBytes: Bool
  // The model's tables retain it, and a view is never lent longer than they live.
  package unowned(unsafe) let binding: LayoutBinding
  let places: UnsafeBufferPointer<FieldPlace>

  /// Verifies the checksum of the cold part, and the layout number and size of both parts.
  ///
  /// The caller has already verified the hot part's checksum, or that of its chunk.
  package init(
    cold: UnsafeRawBufferPointer,
    hot: HotChunk.Part?,
    objectID: UInt64,
    layout: LayoutReference
  ) throws(RecordError) {
    let header = unsafe try RecordHeader(cold)
    guard unsafe header.checksum == RecordHeader.checksum(of: cold, seed: objectID) else {
      throw RecordError(.checksumMismatch)
    }
    guard unsafe header.layoutNumber == layout.number else { throw RecordError(.unknownLayout) }
    guard unsafe cold.count >= layout.coldSize else { throw RecordError(.truncated) }
    if let hot = unsafe hot { unsafe try Self.check(hot, layout) }
    unsafe self.init(
      checkedCold: cold,
      hot: unsafe hot?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0),
      hasExtras: header.hasExtras,
      layout: layout
    )
  }

  /// Creates a view of only the hot fields.
  package init(hot: HotChunk.Part, layout: LayoutReference) throws(RecordError) {
    unsafe try Self.check(hot, layout)
    unsafe self.init(
      checkedCold: UnsafeRawBufferPointer(start: nil, count: 0),
      hot: hot.bytes,
      hasExtras: false,
      layout: layout
    )
  }

  /// Wraps bytes that were built in this process or verified before.
  init(
    checkedCold cold: UnsafeRawBufferPointer,
    hot: UnsafeRawBufferPointer,
    hasExtras: Bool,
    layout: LayoutReference
  ) {
    unsafe self.cold = unsafe cold
    unsafe self.hot = unsafe hot
    unsafe binding = unsafe layout.binding
    unsafe places = unsafe layout.places
    self.hasExtras = hasExtras
    ownsBytes = false
  }

  /// Creates a view of a converted record, all of whose fields are in one part, with a copy of its
  /// bytes.
  ///
  /// The caller retains the binding, as the model's tables do.
  package init(copying bytes: [UInt8], _ binding: LayoutBinding) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    unsafe memory.copyBytes(from: bytes)
    let layout = unsafe binding.reference
    unsafe cold = UnsafeRawBufferPointer(memory)
    // No field of the layout is hot. But the view has all parts, so that nothing adds another one.
    unsafe hot = UnsafeRawBufferPointer(memory)
    unsafe self.binding = unsafe layout.binding
    unsafe places = unsafe layout.places
    hasExtras = false
    ownsBytes = true
  }

  deinit {
    if ownsBytes { unsafe cold.deallocate() }
  }

  /// The layout in which the record was written.
  package var layout: RecordLayout { unsafe binding.layout }

  /// The number of that layout.
  package var layoutNumber: UInt16 { unsafe binding.number }

  /// The number of bytes of both parts.
  package var byteCount: Int { unsafe cold.count + hot.count }

  /// The conversion of the record when it is read; `nil` if it needs none.
  package var conversion: RecordConversion? { unsafe binding.conversion }

  /// Lends a view of the cold part of a record that was built in this process.
  static func withView<R>(
    ofChecked cold: [UInt8],
    _ binding: LayoutBinding,
    _ body: (borrowing RecordView) throws(RecordError) -> R
  ) throws(RecordError) -> R {
    try unsafe cold.span.withUnsafeBytes { cold throws(RecordError) in
      let record = unsafe RecordView(
        checkedCold: cold,
        hot: UnsafeRawBufferPointer(start: nil, count: 0),
        hasExtras: false,
        layout: binding.reference
      )
      return try body(record)
    }
  }

  /// Whether the record was converted when it was read, and has all parts.
  var isConverted: Bool { ownsBytes }

  /// Returns a view of the same record that includes its hot part.
  func adding(_ part: HotChunk.Part) throws(RecordError) -> RecordView {
    let layout = unsafe binding.reference
    unsafe try Self.check(part, layout)
    return unsafe RecordView(
      checkedCold: cold,
      hot: part.bytes,
      hasExtras: hasExtras,
      layout: layout
    )
  }

  /// A second view of the same bytes, which must not outlive this one.
  @unsafe var copy: RecordView {
    unsafe RecordView(
      checkedCold: cold,
      hot: hot,
      hasExtras: hasExtras,
      layout: binding.reference
    )
  }

  private static func check(
    _ part: HotChunk.Part,
    _ layout: LayoutReference
  ) throws(RecordError) {
    guard unsafe part.layoutNumber == layout.number else { throw RecordError(.unknownLayout) }
    guard unsafe part.bytes.count >= layout.hotSize else { throw RecordError(.truncated) }
  }

  // MARK: Values

  /// Decodes the field at `position` in the schema.
  ///
  /// In a record that was written before the field existed, or while the field was optional and
  /// `nil`, it has its default; see ``FieldSchema/hasDefault``.
  ///
  /// - Throws: ``RecordError`` with `missingField` if the record has no value, and the field no
  ///   default; `invalidValue` or `truncated` when the bytes are damaged.
  @inlinable
  public func value<Value: FieldValue>(
    at position: Int,
    as type: Value.Type = Value.self
  ) throws(RecordError) -> Value {
    guard case .present(let bytes) = unsafe try content(at: position) else {
      throw RecordError(.missingField, field: name(at: position))
    }
    return unsafe try decode(bytes, position)
  }

  /// Decodes the optional field at `position`.
  ///
  /// In a record that was written before the field existed, it has its default, or `nil`.
  ///
  /// ```swift
  /// nick = try record.optional(at: 2)
  /// ```
  ///
  /// - Throws: ``RecordError`` with `invalidValue` or `truncated` when the bytes are damaged.
  @inlinable
  public func optional<Value: FieldValue>(
    at position: Int,
    as type: Value.Type = Value.self
  ) throws(RecordError) -> Value? {
    guard case .present(let bytes) = unsafe try content(at: position) else { return nil }
    return unsafe try decode(bytes, position)
  }

  @inlinable
  func decode<Value: FieldValue>(
    _ bytes: UnsafeRawBufferPointer,
    _ position: Int
  ) throws(RecordError) -> Value {
    do {
      var reader = unsafe ByteReader(bytes)
      return try Value(from: &reader)
    } catch {
      throw RecordError(error.code, field: name(at: position))
    }
  }

  /// Lends the stored bytes of a field to `body`; returns `nil` if it has no value.
  func withBytes<Value>(
    at position: Int,
    _ body: (RawSpan) throws(RecordError) -> Value
  ) throws(RecordError) -> Value? {
    guard case .present(let bytes) = unsafe try content(at: position) else { return nil }
    return try body(unsafe bytes.bytes)
  }

  /// The name of the field at `position` in the schema.
  @usableFromInline
  func name(at position: Int) -> String? {
    unsafe binding.fields.indices.contains(position) ? binding.fields[position].name : nil
  }

  // MARK: Bytes

  /// The stored content of a field.
  @unsafe
  @usableFromInline
  package enum Content {
    /// Neither the record's layout nor its extras have the field, and it has no default.
    case missing
    case null
    case present(UnsafeRawBufferPointer)
  }

  /// The content of the field at `position` in the program's schema: the default if the record has
  /// none.
  @usableFromInline
  package func content(at position: Int) throws(RecordError) -> Content {
    guard position >= 0, unsafe position < places.count else { throw RecordError(.missingField) }
    let place = unsafe places[position]
    guard place.exists else { return unsafe try absentContent(at: position) }
    let content = unsafe try storedContent(at: place)
    if case .null = unsafe content, place.replacesNil {
      return unsafe binding.defaults.content(at: position)
    }
    return unsafe content
  }

  /// The content of a field that the record's layout does not have.
  private func absentContent(at position: Int) throws(RecordError) -> Content {
    let binding = unsafe binding
    guard hasExtras else { return unsafe binding.defaults.content(at: position) }
    switch unsafe try extra(withID: binding.fields[position].id) {
    case .missing: return unsafe binding.defaults.content(at: position)
    case .null where binding.defaults.replacesNil(at: position):
      return unsafe binding.defaults.content(at: position)
    case let content: return unsafe content
    }
  }

  /// The content of the field at `position` in the program's schema, without a default.
  func storedContent(at position: Int) throws(RecordError) -> Content {
    guard position >= 0, unsafe position < places.count else { throw RecordError(.missingField) }
    let place = unsafe places[position]
    if place.exists { return unsafe try storedContent(at: place) }
    guard hasExtras else { return unsafe .missing }
    return unsafe try extra(withID: binding.fields[position].id)
  }

  /// Lends the stored bytes of the field at `position` to `body`; returns `nil` if the record has no
  /// value, also if there is a default.
  func withStoredBytes<Value>(
    at position: Int,
    _ body: (RawSpan) throws(RecordError) -> Value
  ) throws(RecordError) -> Value? {
    guard case .present(let bytes) = unsafe try storedContent(at: position) else { return nil }
    return try body(unsafe bytes.bytes)
  }

  /// The content of the field with `id`, whether or not the program's schema has it: the default of
  /// the store if the record has none.
  package func content(ofID id: UInt32) throws(RecordError) -> Content {
    unsafe try binding.defaults.replacing(storedContent(ofID: id), ofID: id)
  }

  /// Lends the bytes of the field with `id` to `body`, as ``content(ofID:)`` returns them; returns
  /// `nil` if it has no value.
  package func withBytes<Value>(
    ofID id: UInt32,
    _ body: (RawSpan) throws(RecordError) -> Value
  ) throws(RecordError) -> Value? {
    guard case .present(let bytes) = unsafe try content(ofID: id) else { return nil }
    return try body(unsafe bytes.bytes)
  }

  /// A copy of the bytes of the field with `id`, as ``content(ofID:)`` returns them: `nil` if it is
  /// missing, and `.some(nil)` if it is `nil`.
  func bytes(ofID id: UInt32) throws(RecordError) -> [UInt8]?? {
    switch unsafe try content(ofID: id) {
    case .missing: nil
    case .null: .some(nil)
    case .present(let bytes): unsafe Array(bytes)
    }
  }

  /// What indexes and columns contain for the field with `id`.
  func indexedContent(ofID id: UInt32) throws(RecordError) -> Content {
    unsafe try binding.defaults.indexed(storedContent(ofID: id), ofID: id)
  }

  private func storedContent(ofID id: UInt32) throws(RecordError) -> Content {
    let binding = unsafe binding
    if let position = binding.layout.position(ofID: id) {
      return unsafe try storedContent(at: binding.layout.places[position])
    }
    guard hasExtras else { return unsafe .missing }
    return unsafe try extra(withID: id)
  }

  /// The content of the field at a place in the record's layout, without a default.
  @inline(__always)
  package func storedContent(at place: FieldPlace) throws(RecordError) -> Content {
    let bytes = unsafe place.isHot ? hot : cold
    // A part is at least as long as its layout requires, or empty.
    guard let base = bytes.baseAddress else {
      throw RecordError(place.isHot ? .missingHotPart : .truncated)
    }
    let presence = unsafe base.load(fromByteOffset: place.presenceOffset, as: UInt8.self)
    guard presence & place.presenceMask != 0 else { return unsafe .null }
    if place.isFixed {
      return unsafe .present(
        UnsafeRawBufferPointer(start: base + place.offset, count: place.width)
      )
    }
    let start = unsafe place.isFirst ? 0 : Self.end(base, place.offset - 4)
    let end = unsafe Self.end(base, place.offset)
    guard start <= end, end <= bytes.count - place.heapStart else {
      throw RecordError(.truncated)
    }
    return unsafe .present(
      UnsafeRawBufferPointer(start: base + place.heapStart + start, count: end - start)
    )
  }

  @inline(__always)
  static func end(_ base: UnsafeRawPointer, _ offset: Int) -> Int {
    unsafe Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}
