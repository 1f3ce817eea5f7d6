/// A value that stored ones are compared to, by their bytes where that is the same.
struct StoredEquality<Value: FieldValue & Equatable>: Sendable {
  private let value: Value
  /// `nil` when equal values may have different bytes.
  private let bytes: [UInt8]?

  init(_ value: Value) {
    self.value = value
    bytes = Value.fieldType.hasOneEncoding ? value.storedBytes : nil
  }

  func matches(_ stored: UnsafeRawBufferPointer) throws(RecordError) -> Bool {
    if let bytes { return unsafe stored.elementsEqual(bytes) }
    var reader = unsafe ByteReader(stored)
    return try Value(from: &reader) == value
  }
}

extension FieldType {
  /// Whether equal values have equal bytes and different ones different.
  ///
  /// Not so for numbers with a fraction: 0 equals -0, and what is no number equals nothing. A type
  /// that writes itself may say of its own what is equal.
  fileprivate var hasOneEncoding: Bool {
    switch self {
    case .bool, .signed, .unsigned, .uuid, .decimal, .string, .data: true
    case .float, .double, .date, .array, .set, .dictionary, .embedded: false
    }
  }
}
