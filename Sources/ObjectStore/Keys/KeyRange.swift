/// A range of index keys: from `lower` on, up to and not including `upper`.
struct KeyRange: Sendable, Hashable {
  var lower: [UInt8]
  /// `nil`: to the end.
  var upper: [UInt8]?

  /// All keys that begin with `prefix`.
  static func prefix(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(lower: prefix, upper: successor(of: prefix))
  }

  /// The least key that is greater than every key with that prefix; `nil` when there is none.
  static func successor(of prefix: [UInt8]) -> [UInt8]? {
    var key = prefix
    while let last = key.last {
      if last < 0xFF {
        key[key.count - 1] = last + 1
        return key
      }
      key.removeLast()
    }
    return nil
  }
}
