package import ObjectStore

/// Reads the objects of JSON text one by one: those of an array, or a sequence of objects, such as
/// one per line.
///
/// The reader needs memory for one object and one part of the file.
package struct JSONObjectReader {
  /// An object of the text.
  package struct Object: Sendable, Hashable {
    /// The line in which the object begins, from 1.
    package var line: Int
    /// The number of the object, from 1.
    package var number: Int
    package var members: [JSONValue.Member]
  }

  private enum State {
    case start
    case beforeElement
    case afterElement
    case inSequence
    case ended
  }

  private let maximumRowLength: Int
  private var buffer: InputBuffer
  private var state = State.start
  /// The line of the next byte.
  private var line = 1
  /// The number of objects that were read.
  private var count = 0

  /// Creates a reader that rejects longer objects.
  package init(_ source: InputBytes, maximumRowLength: Int = InputBytes.maximumRowLength) {
    self.maximumRowLength = maximumRowLength
    buffer = InputBuffer(source)
  }

  /// Returns the next object; `nil` at the end of the text.
  ///
  /// An empty text has no objects.
  ///
  /// - Throws: ``RowError`` if the text is not valid; the error of reading the file.
  package mutating func next() throws -> Object? {
    if state == .start {
      try buffer.skipByteOrderMark()
      try skipWhitespace()
      state = .inSequence
      if try skip("[") {
        try skipWhitespace()
        state = try skip("]") ? .ended : .beforeElement
      }
    }
    try skipWhitespace()
    switch state {
    case .start, .beforeElement: break
    case .inSequence: if try buffer.peek() == nil { return nil }
    case .afterElement:
      if try skip(",") {
        try skipWhitespace()
      } else if try skip("]") {
        state = .ended
        return try next()
      } else if try buffer.peek() == nil {
        throw RowError(line: line, "the array is not closed: is the file complete?")
      } else {
        throw RowError(line: line, "expected ',' or ']'")
      }
    case .ended:
      guard try buffer.peek() == nil else { throw RowError(line: line, "data follows the array") }
      return nil
    }
    let object = try object()
    if state != .inSequence { state = .afterElement }
    return object
  }

  private mutating func skipWhitespace() throws {
    while let byte = try buffer.peek() {
      guard byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else { return }
      if byte == 0x0A { line += 1 }
      buffer.offset += 1
    }
  }

  private mutating func skip(_ character: Unicode.Scalar) throws -> Bool {
    guard try buffer.peek() == UInt8(ascii: character) else { return false }
    buffer.offset += 1
    return true
  }

  private mutating func object() throws -> Object {
    guard try buffer.peek() == UInt8(ascii: "{") else {
      throw RowError(line: line, "expected an object: each row is one, as {\"name\": \"value\"}")
    }
    count += 1
    let length = try length()
    let text = Array(buffer.bytes[buffer.offset..<buffer.offset + length])
    let start = line
    let json: JSONValue
    do {
      json = try JSONParser.parse(text)
    } catch {
      let line = start + text[..<error.offset].count { $0 == 0x0A }
      throw RowError(line: line, object: count, "invalid JSON: \(error.reason)")
    }
    guard case .object(let members) = json else {
      throw RowError(line: start, object: count, "expected an object")
    }
    buffer.offset += length
    line += text.count { $0 == 0x0A }
    return Object(line: start, number: count, members: members)
  }

  /// Returns the length of the object at the offset, and reads all of it into the buffer.
  ///
  /// It only counts braces and brackets. The parser finds other mistakes.
  private mutating func length() throws -> Int {
    var length = 0
    var depth = 0
    var isInString = false
    var isEscaped = false
    while true {
      while buffer.offset + length < buffer.bytes.count {
        let byte = buffer.bytes[buffer.offset + length]
        length += 1
        guard !isInString else {
          if isEscaped {
            isEscaped = false
          } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
          } else if byte == UInt8(ascii: "\"") {
            isInString = false
          }
          continue
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          depth -= 1
          if depth == 0 { return length }
        default: break
        }
      }
      guard length <= maximumRowLength else {
        throw RowError(
          line: line,
          object: count,
          "the object is longer than \(maximumRowLength) bytes"
        )
      }
      guard try buffer.fill() else {
        throw RowError(line: line, object: count, "the object is not closed")
      }
    }
  }
}
