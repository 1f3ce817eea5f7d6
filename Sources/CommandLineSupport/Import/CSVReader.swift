/// The character between two cells of a row.
package struct CSVDelimiter: Sendable, Hashable {
  package static let comma = CSVDelimiter(byte: UInt8(ascii: ","))

  package let byte: UInt8

  private init(byte: UInt8) { self.byte = byte }

  /// Parses one ASCII character or the word `tab`; `nil` for anything else.
  ///
  /// A quote and the ends of lines have another meaning in a file.
  package init?(_ text: String) {
    if text == "tab" {
      byte = UInt8(ascii: "\t")
      return
    }
    guard text.utf8.count == 1, let character = text.utf8.first, character < 0x80,
      character != UInt8(ascii: "\""), character != UInt8(ascii: "\n"),
      character != UInt8(ascii: "\r")
    else { return nil }
    byte = character
  }
}

/// Reads comma-separated values (RFC 4180), or those with another delimiter, row by row.
///
/// A line ends with CR LF, LF or CR. Blank lines are skipped. The reader needs memory for one row and
/// one part of the file.
package struct CSVReader {
  /// A cell of a row.
  package struct Cell: Sendable, Hashable {
    package var text: String
    /// Whether the cell is in quotes, which distinguishes an empty text from a missing value.
    package var isQuoted = false
  }

  /// A row of the file.
  package struct Row: Sendable, Hashable {
    /// The line in which the row begins, from 1.
    package var line: Int
    package var cells: [Cell]
  }

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed: UInt8 = 0x0A
  private static let carriageReturn: UInt8 = 0x0D

  private let delimiter: UInt8
  private let maximumRowLength: Int
  private var buffer: InputBuffer
  private var isFirst = true
  /// The line of the next byte.
  private var line = 1
  /// The length of the current row in bytes, without the current cell.
  private var rowLength = 0

  /// Creates a reader that rejects longer rows.
  package init(
    _ source: InputBytes,
    delimiter: CSVDelimiter = .comma,
    maximumRowLength: Int = InputBytes.maximumRowLength
  ) {
    self.delimiter = delimiter.byte
    self.maximumRowLength = maximumRowLength
    buffer = InputBuffer(source)
  }

  /// Returns the next row; `nil` at the end of the file.
  ///
  /// - Throws: ``RowError`` if the file is not valid; the error of reading the file.
  package mutating func next() throws -> Row? {
    if isFirst { try buffer.skipByteOrderMark() }
    isFirst = false
    while try skipLineEnd() {}
    guard try buffer.peek() != nil else { return nil }
    var row = Row(line: line, cells: [])
    rowLength = 0
    while true {
      row.cells.append(try cell())
      guard try buffer.peek() == delimiter else { break }
      buffer.offset += 1
    }
    _ = try skipLineEnd()
    return row
  }

  /// Skips one line end, if it is next.
  private mutating func skipLineEnd() throws -> Bool {
    guard let byte = try buffer.peek(), byte == Self.lineFeed || byte == Self.carriageReturn else {
      return false
    }
    buffer.offset += 1
    if byte == Self.carriageReturn, try buffer.peek() == Self.lineFeed { buffer.offset += 1 }
    line += 1
    return true
  }

  private mutating func cell() throws -> Cell {
    guard try buffer.peek() == Self.quote else { return try plainCell() }
    return try quotedCell()
  }

  private mutating func plainCell() throws -> Cell {
    var length = 0
    scan: while true {
      while buffer.offset + length < buffer.bytes.count {
        switch buffer.bytes[buffer.offset + length] {
        case delimiter, Self.lineFeed, Self.carriageReturn: break scan
        case Self.quote: throw RowError(line: line, "a quote is inside a cell without quotes")
        default: length += 1
        }
      }
      try requireLength(length)
      guard try buffer.fill() else { break }
    }
    let text = try text(buffer.bytes[buffer.offset..<buffer.offset + length], line)
    buffer.offset += length
    rowLength += length + 1
    return Cell(text: text)
  }

  private mutating func quotedCell() throws -> Cell {
    let start = line
    buffer.offset += 1
    var content: [UInt8] = []
    while true {
      var end = buffer.offset
      while end < buffer.bytes.count, buffer.bytes[end] != Self.quote { end += 1 }
      content += buffer.bytes[buffer.offset..<end]
      buffer.offset = end
      try requireLength(content.count)
      if end == buffer.bytes.count {
        guard try buffer.fill() else { throw RowError(line: start, "a quote is not closed") }
        continue
      }
      buffer.offset += 1
      // Two quotes are one in the text.
      guard try buffer.peek() == Self.quote else { break }
      content.append(Self.quote)
      buffer.offset += 1
    }
    for (position, byte) in content.enumerated() {
      let next = position + 1 < content.count ? content[position + 1] : nil
      if byte == Self.lineFeed || (byte == Self.carriageReturn && next != Self.lineFeed) {
        line += 1
      }
    }
    switch try buffer.peek() {
    case nil, delimiter, Self.lineFeed, Self.carriageReturn: break
    default: throw RowError(line: line, "text follows a closing quote")
    }
    rowLength += content.count + 1
    return Cell(text: try text(content[...], start), isQuoted: true)
  }

  private func requireLength(_ length: Int) throws {
    guard rowLength + length <= maximumRowLength else {
      throw RowError(
        line: line,
        "the row is longer than \(maximumRowLength) bytes: is a quote not closed?"
      )
    }
  }

  private func text(_ bytes: ArraySlice<UInt8>, _ line: Int) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw RowError(line: line, "the text is not UTF-8")
    }
    return text
  }
}
