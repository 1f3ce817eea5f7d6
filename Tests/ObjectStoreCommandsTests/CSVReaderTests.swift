import Testing

@testable import CommandLineSupport

/// The reader of comma-separated values.
struct CSVReaderTests {
  /// Reads all rows of bytes that arrive in parts of `size`.
  static func rows(
    _ bytes: [UInt8],
    partsOf size: Int = 1 << 18,
    _ delimiter: CSVDelimiter = .comma
  ) throws -> [CSVReader.Row] {
    var reader = CSVReader(InputBytes(bytes, partsOf: size), delimiter: delimiter)
    var rows: [CSVReader.Row] = []
    while let row = try reader.next() { rows.append(row) }
    return rows
  }

  private static func texts(_ text: String, partsOf size: Int = 1 << 18) throws -> [[String]] {
    try rows(Array(text.utf8), partsOf: size).map { $0.cells.map(\.text) }
  }

  @Test(arguments: [
    (";", "a;b,c\n\"d;\";\n", [["a", "b,c"], ["d;", ""]]),
    ("tab", "a\tb c\n\"\t\"\td\r\n", [["a", "b c"], ["\t", "d"]]),
    ("|", "\"a\"|\"b\"\"|\"\n|", [["a", "b\"|"], ["", ""]]), ("\t", "a\tb", [["a", "b"]]),
    (" ", "a b", [["a", "b"]]),
  ])
  func `cells are separated by the given delimiter`(
    name: String,
    text: String,
    expected: [[String]]
  ) throws {
    let delimiter = try #require(CSVDelimiter(name))
    for size in [1, 2, 1 << 18] {
      let rows = try Self.rows(Array(text.utf8), partsOf: size, delimiter)
      #expect(rows.map { $0.cells.map(\.text) } == expected)
    }
  }

  @Test(arguments: ["", "\"", "\n", "\r", "\r\n", ";;", "é", "Tab", "\\t", "，"])
  func `a delimiter is one ASCII character that has no other meaning`(_ text: String) {
    #expect(CSVDelimiter(text) == nil)
  }

  private static func error(_ text: String) -> RowError? {
    #expect(throws: RowError.self) { try texts(text) }
  }

  @Test(
    arguments: [
      ("", []), ("\n\r\n\r", []), ("a", [["a"]]), ("a,b\n", [["a", "b"]]),
      ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]), ("a\rb", [["a"], ["b"]]),
      ("a\n\n\nb", [["a"], ["b"]]), (",", [["", ""]]), ("a,\n,b", [["a", ""], ["", "b"]]),
      ("\"a\"", [["a"]]), ("\"\"", [[""]]), ("\"\",\"\"\n", [["", ""]]),
      ("\"a,b\",c", [["a,b", "c"]]), ("\"say \"\"hi\"\"\"", [["say \"hi\""]]),
      ("\"\"\"\"", [["\""]]), ("\"a\nb\r\nc\rd\"\ne", [["a\nb\r\nc\rd"], ["e"]]),
      (" a , b", [[" a ", " b"]]), ("é,日本,👩‍👩‍👧\n", [["é", "日本", "👩‍👩‍👧"]]),
      ("\u{FEFF}a,b", [["a", "b"]]), ("\u{FEFF}\"a\"", [["a"]]), ("\u{FEFF}", []),
      ("a\0b", [["a\0b"]]), ("a;b\tc", [["a;b\tc"]]),
    ] as [(String, [[String]])]
  )
  func `text is split into rows and cells, wherever a part of the file ends`(
    text: String,
    rows: [[String]]
  ) throws {
    for size in [1, 2, 3, 5, 1 << 18] {
      #expect(try Self.texts(text, partsOf: size) == rows)
    }
  }

  @Test func `quotes distinguish an empty text from a missing value`() throws {
    let row = try #require(try Self.rows(Array("\"\",,\"x\",y".utf8)).first)
    #expect(row.cells.map(\.isQuoted) == [true, false, true, false])
  }

  @Test func `a row has the line in which it begins`() throws {
    let text = "a\n\n\"b\nb\r\nb\rb\"\r\nc\rd"
    for size in [1, 2, 1 << 18] {
      #expect(try Self.rows(Array(text.utf8), partsOf: size).map(\.line) == [1, 3, 7, 8])
    }
  }

  @Test func `mistakes are found with their lines`() {
    #expect(
      Self.error("a\nb,\"c\nd") == RowError(line: 2, "a quote is not closed")
    )
    #expect(
      Self.error("a\n\"b\n\"c") == RowError(line: 3, "text follows a closing quote")
    )
    #expect(
      Self.error("a\nb\nc\"d\"") == RowError(line: 3, "a quote is inside a cell without quotes")
    )
    #expect(Self.error("a, \"b\"")?.reason == "a quote is inside a cell without quotes")
    #expect(throws: RowError(line: 2, "the text is not UTF-8")) {
      try Self.rows(Array("a\nb".utf8) + [0xFF, 0x0A])
    }
    #expect(throws: RowError(line: 1, "the text is not UTF-8")) {
      try Self.rows([0xFF, 0xFE, 0x61, 0x00])
    }
  }

  @Test func `a row that is too long ends the reading`() {
    let part = [UInt8](repeating: 0x61, count: 100)
    for start in ["a\n", "a\n\"", "a\nb,"] {
      var parts = 0
      let source = InputBytes {
        parts += 1
        return parts == 1 ? Array(start.utf8) : part
      }
      var reader = CSVReader(source, maximumRowLength: 1_000)
      #expect(throws: Never.self) { try reader.next() }
      let error = #expect(throws: RowError.self) { try reader.next() }
      #expect(error?.line == 2)
      #expect(parts < 15)
    }
  }

  @Test func `what the tool writes is read back`() throws {
    let cells = [
      "", "a", "a,b", "\"", "a\"b", "\"\u{301}", "\"\"\u{200D}\"", "\n", "\r\n", " x ", "é",
      "e\u{301}", "-1", "=1+1", "\t",
    ]
    let text = CSVOutput.line(cells) + "\n" + CSVOutput.line(cells.reversed()) + "\n"
    #expect(try Self.texts(text, partsOf: 7) == [cells, cells.reversed()])
  }
}

extension InputBytes {
  /// The given bytes, in parts of a size.
  init(_ bytes: [UInt8], partsOf size: Int) {
    var rest = bytes[...]
    self.init {
      defer { rest = rest.dropFirst(size) }
      return Array(rest.prefix(size))
    }
  }
}
