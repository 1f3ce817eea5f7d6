/// The new values of single fields of one object, as bytes.
///
/// Its memory is used again for the next object of the transaction.
@usableFromInline
struct FieldEdits: ~Copyable {
  private struct Edit {
    var position: Int
    /// Where the bytes of the value lie; `nil` for a field that is to hold `nil`.
    var range: Range<Int>?
  }

  @usableFromInline var bytes = ByteWriter(capacity: 256)
  private var edits: [Edit] = []

  var count: Int { edits.count }

  @usableFromInline
  mutating func removeAll() {
    bytes.removeAll()
    edits.removeAll(keepingCapacity: true)
  }

  /// Sets the field at `position`; of several values the last counts.
  @inlinable
  mutating func set<Value: FieldValue>(_ value: Value, at position: Int) {
    let start = bytes.count
    value.encode(to: &bytes)
    note(start..<bytes.count, at: position)
  }

  @usableFromInline
  mutating func note(_ range: Range<Int>?, at position: Int) {
    let edit = Edit(position: position, range: range)
    if let index = edits.firstIndex(where: { $0.position == position }) {
      edits[index] = edit
    } else {
      edits.append(edit)
    }
  }

  func position(of number: Int) -> Int { edits[number].position }

  /// The value of an edit: valid until the next change.
  @unsafe
  func content(of number: Int) -> RecordView.Content {
    guard let range = edits[number].range else { return unsafe .null }
    return unsafe .present(UnsafeRawBufferPointer(rebasing: bytes.buffer[range]))
  }

  /// The new value of the field at `position`, or `nil` when it is to stay: valid until the next
  /// change.
  @unsafe
  @usableFromInline
  func content(at position: Int) -> RecordView.Content? {
    for number in edits.indices where edits[number].position == position {
      return unsafe content(of: number)
    }
    return nil
  }
}
