#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The sort order of objects without their Swift type: a field and a direction.
///
/// Objects without a value come last in both directions, and objects with equal values in the order
/// in which they were inserted. Strings compare by their UTF-8 bytes, collections by their elements,
/// dictionaries by their keys, and NaN comes after all numbers.
///
/// ```swift
/// let order = StoredOrder(fieldID: field.id, direction: .descending)
/// ```
public struct StoredOrder: Sendable, Hashable {
  /// The id of the field.
  public var fieldID: UInt32
  /// The direction.
  public var direction: SortDirection

  /// Creates an order.
  public init(fieldID: UInt32, direction: SortDirection) {
    self.fieldID = fieldID
    self.direction = direction
  }

  /// Replaces `key` with bytes that compare as the objects sort.
  func write(_ value: StoredValue, _ id: UInt64, to key: inout ByteWriter) {
    key.removeAll()
    key.write((value.isNull ? 1 : 0) as UInt8)
    value.appendSortKey(to: &key)
    if direction == .descending { key.invert(from: 1) }
    key.write(id.bigEndian)
  }
}

extension StoredValue {
  /// Appends bytes that compare as the values of one type do, and are no prefix of those of another
  /// value.
  fileprivate func appendSortKey(to key: inout ByteWriter) {
    switch self {
    case .null: break
    case .bool(let value): key.write((value ? 1 : 0) as UInt8)
    case .signed(let value): SortKey(value).append(to: &key)
    case .unsigned(let value): key.write(value.bigEndian)
    case .float(let value): SortKey(Double(value)).append(to: &key)
    case .double(let value): SortKey(value).append(to: &key)
    case .date(let date): SortKey(date.timeIntervalSinceReferenceDate).append(to: &key)
    case .decimal(let value):
      key.write((value.isNaN ? 1 : 0) as UInt8)
      // The stored form sorts like the numbers.
      value.encode(to: &key)
    case .uuid(let uuid): uuid.encode(to: &key)
    case .string(let text): SortKey(text).append(to: &key)
    case .data(let data), .embedded(let data): Self.append(data, to: &key)
    case .array(let elements), .set(let elements): Self.append(elements, to: &key)
    case .dictionary(let entries): Self.append(entries.map(\.key), to: &key)
    }
  }

  private static func append(_ elements: [StoredValue], to key: inout ByteWriter) {
    for element in elements {
      key.write(1 as UInt8)
      element.appendSortKey(to: &key)
    }
    key.write(0 as UInt8)
  }

  private static func append(_ data: Data, to key: inout ByteWriter) {
    KeyEncoding.append(data.span, .text, maximumContentSize: .max, to: &key)
  }
}
