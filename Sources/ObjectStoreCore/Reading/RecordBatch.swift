internal import LMDB

/// The stored parts of several objects, which are looked up at the same time.
@unsafe
struct RecordBatch {
  /// The largest number of objects.
  static let size = unsafe BatchLookup.size

  /// The number of bytes of a cold part to request before it is read; the processor guesses the
  /// following ones.
  static let coldSize = 512

  private let reader: ModelReader
  private let records: BatchLookup?
  private let chunks: BatchLookup?
  private var numbers: [UInt64] = []
  private var coldParts = unsafe [UnsafeRawBufferPointer]()
  private var hotChunks = unsafe [UnsafeRawBufferPointer]()

  /// The IDs of the objects.
  private(set) var ids: ArraySlice<UInt64> = []
  /// The parts that were read.
  private var parts: RecordParts = []
  /// The position from which the next object is searched.
  private var next = 0

  /// Creates an empty batch; `nil` if single lookups are as fast.
  init?(_ reader: ModelReader) throws {
    unsafe self.reader = unsafe reader
    unsafe records = unsafe try BatchLookup(reader.transaction, reader.tables.records)
    guard unsafe records != nil else { return nil }
    unsafe chunks =
      unsafe reader.tables.hasHotFields
      ? try BatchLookup(reader.transaction, reader.tables.hot) : nil
  }

  /// Reads some parts of objects, in place of the previous ones.
  ///
  /// - Parameters:
  ///   - ids: At most ``size`` object IDs; ascending ones share pages.
  ///   - parts: The parts to read.
  /// - Throws: `LMDBError` if LMDB cannot read the store.
  mutating func read(_ ids: ArraySlice<UInt64>, parts: RecordParts) throws {
    unsafe self.ids = ids
    unsafe self.parts = parts
    unsafe next = 0
    unsafe coldParts.removeAll(keepingCapacity: true)
    unsafe hotChunks.removeAll(keepingCapacity: true)
    if parts.contains(.cold) {
      unsafe try reader.append(
        ids,
        in: reader.tables.records,
        by: records,
        requesting: Self.coldSize,
        to: &coldParts
      )
    }
    guard parts.contains(.hot), let chunks = unsafe chunks else { return }
    unsafe numbers.removeAll(keepingCapacity: true)
    for id in ids { unsafe numbers.append(HotChunk.number(of: id)) }
    unsafe try reader.append(
      numbers[...],
      in: reader.tables.hot,
      by: chunks,
      requesting: HotChunk.headerSize,
      to: &hotChunks
    )
    for (index, id) in ids.enumerated() {
      unsafe HotChunkView.requestPart(of: id, in: hotChunks[index])
    }
  }

  /// Returns the position of an object, which must follow those of earlier calls; `nil` if it was not
  /// read with these parts.
  mutating func position(of id: UInt64, parts: RecordParts) -> Int? {
    guard unsafe parts.isSubset(of: self.parts) else { return nil }
    while unsafe next < ids.count {
      if unsafe ids[ids.startIndex + next] == id { return unsafe next }
      unsafe next += 1
    }
    return nil
  }

  /// Returns the cold part of the object at a position in ``ids``; `nil` if there is no such object.
  func coldPart(at position: Int) -> UnsafeRawBufferPointer? {
    let part = unsafe coldParts[position]
    return unsafe part.baseAddress == nil ? nil : part
  }

  /// Returns the hot part of the object at a position in ``ids`` after verifying its checksum.
  func hotPart(at position: Int) throws -> HotChunk.Part? {
    let id = unsafe ids[ids.startIndex + position]
    guard unsafe !hotChunks.isEmpty else { return unsafe try reader.hotPart(of: id) }
    let bytes = unsafe hotChunks[position]
    guard unsafe bytes.baseAddress != nil else { return nil }
    return unsafe try reader.hotPart(of: id, in: bytes)
  }
}

extension ModelReader {
  /// Appends the value of each key, without an address if there is none.
  ///
  /// - Parameters:
  ///   - keys: At most as many keys as a batch has.
  ///   - database: The database.
  ///   - lookup: Finds the values together; `nil` to find them one by one.
  ///   - byteCount: The number of bytes to request at the start of each value.
  ///   - values: Receives the values.
  /// - Throws: `LMDBError` if LMDB cannot read the database.
  func append(
    _ keys: ArraySlice<UInt64>,
    in database: Database,
    by lookup: BatchLookup?,
    requesting byteCount: Int,
    to values: inout [UnsafeRawBufferPointer]
  ) throws {
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    let start = unsafe values.count
    unsafe values.append(contentsOf: repeatElement(none, count: keys.count))
    if let lookup = unsafe lookup {
      let isFound = unsafe keys.withUnsafeBufferPointer { keys in
        unsafe values.withUnsafeMutableBufferPointer { values in
          let values = unsafe UnsafeMutableBufferPointer(rebasing: values[start...])
          return unsafe lookup.find(keys, requesting: byteCount, values)
        }
      }
      if isFound { return }
    }
    for (index, key) in keys.enumerated() {
      unsafe values[start + index] = unsafe try value(of: key, in: database) ?? none
    }
  }
}
