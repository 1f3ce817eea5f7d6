/// The values that the fields of a model have in records without one.
///
/// A program's own default counts only until the store has one.
@safe  // It owns the memory and lends it no longer than it lives.
package final class FieldDefaults: Sendable {
  /// A default that the store has.
  private struct Entry: Sendable {
    var type: FieldType
    var range: Range<Int>
    var isUsed: Bool
    var replacesNil: Bool
  }

  // Initialized in `init`, never changed after that, and freed in `deinit`.
  nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer
  /// The range of each default in the memory, by the position of the field in the program's schema.
  private let positions: [Range<Int>?]
  /// The positions of the fields whose default replaces a stored `nil`, too.
  private let nilPositions: Set<Int>
  private let entries: [UInt32: Entry]

  /// The defaults of a model without any.
  static let none = FieldDefaults(own: RecordLayout(fields: []), stored: [:])

  /// - Parameters:
  ///   - own: The layout of the program.
  ///   - declared: The defaults that the program declares, by field id; `nil` for a reader of stored
  ///     models, for which `nil` is a value unless the store says otherwise.
  ///   - stored: The defaults that the store has.
  init(own: RecordLayout, declared: [UInt32: [UInt8]]? = nil, stored: StoredDefaults) {
    var bytes: [UInt8] = []
    func append(_ value: [UInt8]) -> Range<Int> {
      defer { bytes += value }
      return bytes.count..<bytes.count + value.count
    }
    let entries = stored.mapValues { value in
      Entry(
        type: value.type,
        range: append(value.bytes),
        isUsed: value.isUsed,
        replacesNil: value.replacesNil
      )
    }
    let positions = own.fields.map { field -> Range<Int>? in
      // A step may change the type of a field; the schema of the store then follows.
      if let entry = entries[field.id], entry.type == field.type { return entry.range }
      return declared?[field.id].map { append($0) }
    }
    nilPositions = Set(
      own.fields.indices.filter { position in
        guard positions[position] != nil else { return false }
        guard declared != nil else { return entries[own.fields[position].id]?.replacesNil == true }
        return !own.fields[position].isOptional
      }
    )
    self.entries = entries
    self.positions = positions
    unsafe memory = .allocate(byteCount: bytes.count, alignment: 8)
    unsafe memory.copyBytes(from: bytes)
  }

  deinit {
    unsafe memory.deallocate()
  }

  private func content(_ range: Range<Int>) -> RecordView.Content {
    unsafe .present(UnsafeRawBufferPointer(rebasing: memory[range]))
  }

  /// The content of a field that a record lacks, by its position in the program's schema.
  func content(at position: Int) -> RecordView.Content {
    guard position < positions.count, let range = positions[position] else {
      return unsafe .missing
    }
    return unsafe content(range)
  }

  /// Whether a stored `nil` is read as the default.
  func replacesNil(at position: Int) -> Bool { nilPositions.contains(position) }

  /// Returns what a reader of stored models reads in place of a content.
  package func replacing(_ content: RecordView.Content, ofID id: UInt32) -> RecordView.Content {
    unsafe replacing(content, entries[id])
  }

  /// Returns what indexes and columns contain for a content.
  func indexed(_ content: RecordView.Content, ofID id: UInt32) -> RecordView.Content {
    guard let entry = entries[id], entry.isUsed else { return unsafe content }
    return unsafe replacing(content, entry)
  }

  private func replacing(_ content: RecordView.Content, _ entry: Entry?) -> RecordView.Content {
    guard let entry else { return unsafe content }
    switch unsafe content {
    case .missing: return unsafe self.content(entry.range)
    case .null where entry.replacesNil: return unsafe self.content(entry.range)
    default: return unsafe content
    }
  }

  /// The ids and types of the fields that have a default in the store, in the order of the ids.
  package var storedFields: [(id: UInt32, type: FieldType)] {
    entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value.type) }
  }

  /// Whether indexes and columns have the values of a field that the program reads, in all records.
  func isIndexed(at position: Int, _ field: RecordLayout.Field, _ layouts: [RecordLayout]) -> Bool {
    let used = entries[field.id].flatMap { $0.isUsed && $0.type == field.type ? $0 : nil }
    let replacesNil = replacesNil(at: position)
    guard used == nil || used?.replacesNil != replacesNil else { return true }
    let hasDefault = positions[position] != nil
    return layouts.allSatisfy { layout in
      guard let place = layout.position(ofID: field.id) else { return used != nil || !hasDefault }
      return !layout.fields[place].isOptional || replacesNil == (used?.replacesNil ?? false)
    }
  }
}

extension [RecordLayout] {
  /// Whether a layout does not have a field.
  func lack(_ id: UInt32) -> Bool { contains { $0.position(ofID: id) == nil } }

  /// Whether a field is optional in a layout.
  func haveOptional(_ id: UInt32) -> Bool {
    contains { layout in layout.position(ofID: id).map { layout.fields[$0].isOptional } ?? false }
  }
}
