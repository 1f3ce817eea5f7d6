internal import ObjectStore

/// The size of the answers to the calls of one request, which is limited: a short request can ask for
/// the same thousands of downloads many times.
///
/// A call is answered in full, so one alone may be larger than the limit.
struct AnswerBudget {
  /// The limit, in bytes of JSON.
  static let limit = 8 << 20

  private var size = 0

  /// Whether another call is answered.
  var allowsMore: Bool { size < Self.limit }

  /// Counts an answer.
  mutating func add(_ value: JSONValue) { size += Self.size(of: value) }

  /// The size of a value as JSON, nearly.
  private static func size(of value: JSONValue) -> Int {
    switch value {
    case .string(let text): text.utf8.count + 3
    case .array(let values): values.reduce(2) { $0 + size(of: $1) }
    case .object(let members):
      members.reduce(2) { $0 + $1.name.utf8.count + 4 + size(of: $1.value) }
    default: 8
    }
  }
}
