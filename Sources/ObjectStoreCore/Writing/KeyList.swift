/// A list of keys in one buffer, which is reused.
package struct KeyList: ~Copyable {
  private var writer = ByteWriter(capacity: 256)
  private var ends: [Int] = []

  package init() {}

  package var count: Int { ends.count }

  /// The key at `index`, valid until the list changes.
  @unsafe
  package subscript(index: Int) -> UnsafeRawBufferPointer {
    let start = index == 0 ? 0 : ends[index - 1]
    return unsafe UnsafeRawBufferPointer(rebasing: writer.buffer[start..<ends[index]])
  }

  package func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    for index in 0..<count where unsafe self[index].elementsEqual(key) { return true }
    return false
  }

  /// Appends a complete key.
  mutating func append(_ key: UnsafeRawBufferPointer) {
    unsafe writer.append(key)
    ends.append(writer.count)
  }

  mutating func removeAll() {
    writer.removeAll()
    ends.removeAll(keepingCapacity: true)
  }

  /// Appends the keys that a record has in an index, each with the object's id.
  ///
  /// This is one key, or one for each distinct element of an indexed collection.
  package mutating func append(
    _ record: borrowing RecordView,
    _ id: UInt64,
    in index: ModelTables.Index
  ) throws(RecordError) {
    if let collection = index.collectionPart {
      let part = index.parts[collection]
      guard case .present(let bytes) = unsafe try part.content(in: record) else { return }
      let elements = unsafe try KeyEncoding.elementKeys(
        of: bytes,
        type: part.elementType,
        maximumContentSize: index.maximumContentSize
      )
      for element in elements {
        for part in 0..<index.parts.count {
          if part == collection {
            writer.write(element)
          } else {
            try appendPart(part, of: record, in: index)
          }
        }
        end(id)
      }
      return
    }
    for part in 0..<index.parts.count { try appendPart(part, of: record, in: index) }
    end(id)
  }

  private mutating func end(_ id: UInt64) {
    writer.write(id.byteSwapped)
    ends.append(writer.count)
  }

  private mutating func appendPart(
    _ number: Int,
    of record: borrowing RecordView,
    in index: ModelTables.Index
  ) throws(RecordError) {
    let part = index.parts[number]
    switch unsafe try part.content(in: record) {
    case .missing, .null: writer.write(0 as UInt8)
    case .present(let bytes):
      guard part.width == nil || bytes.count == part.width else { throw RecordError(.truncated) }
      unsafe KeyEncoding.append(
        bytes,
        part.form,
        maximumContentSize: index.maximumContentSize,
        to: &writer
      )
    }
  }
}
