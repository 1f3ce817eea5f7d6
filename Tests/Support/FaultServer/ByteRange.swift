/// A single range of a `Range` field (RFC 9110, 14.1.2), not yet applied to a length.
enum ByteRange: Hashable {
  /// From a first to a last offset, both inclusive; to the end if there is no last one.
  case from(Int64, through: Int64?)
  /// The last bytes of the content.
  case suffix(Int64)

  /// The part of a body that a range selects.
  enum Selection: Hashable {
    case bytes(Range<Int64>)
    case unsatisfiable
    /// The range is valid, but 206 cannot express it: the last bytes of an empty body.
    case whole
  }

  /// Parses a `Range` field with one range of bytes.
  ///
  /// Anything else is `nil` and is ignored: a server may ignore several ranges and must ignore
  /// other units (RFC 9110, 14.2).
  init?(field: String) {
    let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, trimmed(parts[0]).lowercased() == "bytes" else { return nil }
    let bounds = trimmed(parts[1]).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return nil }
    let numbers = bounds.map { Self.number($0) }
    switch (bounds[0].isEmpty, bounds[1].isEmpty) {
    case (true, true):
      return nil
    case (true, false):
      guard let count = numbers[1] else { return nil }
      self = .suffix(count)
    case (false, true):
      guard let first = numbers[0] else { return nil }
      self = .from(first, through: nil)
    case (false, false):
      guard let first = numbers[0], let last = numbers[1], first <= last else { return nil }
      self = .from(first, through: last)
    }
  }

  /// Returns the part of `byteCount` bytes that the range selects.
  func selection(of byteCount: Int64) -> Selection {
    switch self {
    case .from(let first, let last):
      guard first < byteCount else { return .unsatisfiable }
      return .bytes(first..<min(byteCount, (last ?? byteCount - 1) + 1))
    case .suffix(let count):
      guard count > 0 else { return .unsatisfiable }
      guard byteCount > 0 else { return .whole }
      return .bytes(max(0, byteCount - count)..<byteCount)
    }
  }

  /// Parses digits only, because `Int64` alone would accept a sign.
  ///
  /// Longer numbers are clamped.
  private static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
    return Int64(text).map { min($0, .max - 1) } ?? .max - 1
  }
}

/// Returns whether an `If-Range` value allows a range (RFC 9110, 13.1.5).
///
/// An entity tag matches only if both are strong and equal; a date only if it equals the one that
/// the server sends.
func ifRangeHolds(_ value: String, etag: String?, lastModified: String?) -> Bool {
  if value.hasPrefix("\"") { return value == etag }
  if value.hasPrefix("W/") { return false }
  return value == lastModified
}
