/// Base 64 with the standard alphabet (RFC 4648, section 4).
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
  )
  private static let padding = UInt8(ascii: "=")

  /// Encodes bytes on one line.
  static func text(of bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let first = iterator.next() {
      let second = iterator.next()
      let third = iterator.next()
      let group = UInt32(first) << 16 | UInt32(second ?? 0) << 8 | UInt32(third ?? 0)
      text.append(alphabet[Int(group >> 18)])
      text.append(alphabet[Int(group >> 12 & 63)])
      text.append(second == nil ? padding : alphabet[Int(group >> 6 & 63)])
      text.append(third == nil ? padding : alphabet[Int(group & 63)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes text, ignoring white space.
  ///
  /// Returns `nil` for invalid characters, padding within the text, and an incomplete group.
  static func bytes(of text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var group: UInt32 = 0
    var count = 0
    var padded = 0
    for character in text.utf8 where !character.isXMLSpace {
      if character == padding {
        padded += 1
        guard padded <= 2 else { return nil }
        group <<= 6
      } else {
        guard padded == 0, let value = value(of: character) else { return nil }
        group = group << 6 | UInt32(value)
      }
      count += 1
      guard count % 4 == 0 else { continue }
      for index in 0..<(3 - padded) {
        bytes.append(UInt8(truncatingIfNeeded: group >> (16 - 8 * index)))
      }
      group = 0
    }
    return count % 4 == 0 ? bytes : nil
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
