internal import Foundation
internal import ObjectStore

/// The sort order of `dlstore store query`: a field and a direction.
struct StoredOrder: Sendable, Hashable {
  var field: String
  var isDescending: Bool

  /// Parses `FIELD`, `FIELD:asc` or `FIELD:desc`; `nil` for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let name = parts.first, !name.isEmpty, parts.count <= 2,
      parts.count == 1 || parts[1] == "asc" || parts[1] == "desc"
    else { return nil }
    field = String(name)
    isDescending = parts.last == "desc" && parts.count == 2
  }

  /// Whether one value comes before another; objects without a value come last in both directions.
  func isBefore(_ left: StoredValue, _ right: StoredValue) -> Bool {
    switch (left, right) {
    case (.null, _): false
    case (_, .null): true
    default: isDescending ? Self.isLess(right, left) : Self.isLess(left, right)
    }
  }

  /// Compares two values of one type; collections by their elements, and NaN after all numbers.
  static func isLess(_ left: StoredValue, _ right: StoredValue) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): !left && right
    case (.signed(let left), .signed(let right)): left < right
    case (.unsigned(let left), .unsigned(let right)): left < right
    case (.float(let left), .float(let right)): isLess(Double(left), Double(right))
    case (.double(let left), .double(let right)): isLess(left, right)
    case (.date(let left), .date(let right)):
      isLess(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
    case (.decimal(let left), .decimal(let right)):
      left.isNaN ? false : right.isNaN || left < right
    case (.uuid(let left), .uuid(let right)): left.uuidString < right.uuidString
    case (.string(let left), .string(let right)):
      left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.data(let left), .data(let right)), (.embedded(let left), .embedded(let right)):
      left.lexicographicallyPrecedes(right)
    case (.array(let left), .array(let right)), (.set(let left), .set(let right)):
      left.lexicographicallyPrecedes(right, by: isLess)
    case (.dictionary(let left), .dictionary(let right)):
      left.map(\.key).lexicographicallyPrecedes(right.map(\.key), by: isLess)
    default: false
    }
  }

  private static func isLess(_ left: Double, _ right: Double) -> Bool {
    left.isNaN ? false : right.isNaN || left < right
  }
}

/// Collects the first elements of a sequence in an order, in memory for twice their number.
///
/// The order is stable: of equal elements, those added first come first.
struct FirstElements<Element> {
  private let limit: Int
  private let isBefore: (Element, Element) -> Bool
  private var elements: [Element] = []
  /// The last of `limit` elements; an element that is not before it cannot be among the first.
  private var bound: Element?

  /// Creates a collection of the first `limit` elements; `nil` for all.
  init(limit: Int?, by isBefore: @escaping (Element, Element) -> Bool) {
    self.limit = limit ?? .max
    self.isBefore = isBefore
  }

  /// The number of elements in memory.
  var count: Int { elements.count }

  /// Adds an element if it may be among the first.
  mutating func add(_ element: Element) {
    if let bound, !isBefore(element, bound) { return }
    elements.append(element)
    guard limit <= Int.max / 2, elements.count >= max(2 * limit, 16) else { return }
    elements = sorted()
    bound = elements.last
  }

  /// The first elements in order.
  func sorted() -> [Element] {
    // The sort of the standard library is stable, although it is not documented to be; the offsets
    // make it certain.
    let sorted = elements.enumerated().sorted { left, right in
      if isBefore(left.element, right.element) { return true }
      if isBefore(right.element, left.element) { return false }
      return left.offset < right.offset
    }
    return sorted.prefix(limit).map(\.element)
  }
}
