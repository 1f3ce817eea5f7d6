import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct JSONParserTests {
  private func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

  @Test func `every kind of value is parsed, with and without whitespace`() throws {
    let text = """
       {"a" : [ ] , "b":[true,false , null],"c":{},"d":-0.5e+10,"e":"\\u00e9\\ud83d\\ude00\\/\\t\u{1F600}"}
      """
    #expect(
      try parse(text)
        == .object([
          .init(name: "a", value: .array([])),
          .init(name: "b", value: .array([.bool(true), .bool(false), .null])),
          .init(name: "c", value: .object([])),
          .init(name: "d", value: .number("-0.5e+10")),
          .init(name: "e", value: .string("\u{E9}\u{1F600}/\t\u{1F600}")),
        ])
    )
  }

  @Test(arguments: [
    "9007199254740993", "-9223372036854775808", "18446744073709551615", "0", "-0", "1e400", "0.10",
  ])
  func `a number keeps its original digits`(digits: String) throws {
    #expect(try parse(digits) == .number(digits))
  }

  @Test(arguments: [
    "", " ", "{", "[", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "01", "1.",
    ".5", "+1", "-", "1e", "0x1", "nul", "truefalse", "NaN", "Infinity", "'a'", "\"", "\"\\x\"",
    "\"\\u12\"", "\"\\u+123\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\n\"",
    "1 1", "[] ]", "{\"a\":1,\"a\":2}", "\u{FEFF}1", "// 1",
  ])
  func `invalid JSON throws a syntax error`(text: String) {
    #expect(throws: JSONSyntaxError.self) { try parse(text) }
  }

  @Test func `each escape stands for its character`() throws {
    #expect(try parse(#""\"\\\/\b\f\n\r\t\u0041""#) == .string("\"\\/\u{8}\u{C}\n\r\tA"))
    for byte in UInt8(ascii: " ")...UInt8(ascii: "~") {
      let isEscape = "\"\\/bfnrt".utf8.contains(byte)
      let value = try? JSONParser.parse([0x22, 0x5C, byte, 0x22])
      #expect((value != nil) == isEscape, "\(byte)")
    }
  }

  @Test func `invalid UTF-8 throws a syntax error`() {
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
  }

  @Test func `canonically equivalent names are different members`() throws {
    let object = try parse("{\"\u{E9}\":1,\"e\u{301}\":2}")
    #expect(object["e\u{301}"] == .number("2"))
    #expect(object["\u{E9}"] == .number("1"))
  }

  @Test func `nesting deeper than 256 levels throws a syntax error`() throws {
    let deep = String(repeating: "[", count: 256) + String(repeating: "]", count: 256)
    #expect(try parse(deep) != .null)
    #expect(throws: JSONSyntaxError.self) { try parse("[\(deep)]") }
    #expect(throws: JSONSyntaxError.self) { try parse(String(repeating: "[", count: 1_000_000)) }
  }

  @Test func `the compact text escapes control characters, quotation marks and backslashes`() {
    let value: JSONValue = [
      "a\"\\": .string("\0\t\n\r\u{1F}\u{7F}\u{80}\u{2028}é\u{1F600}"),
      "b": [:], "c": .array([]), "d": .array([.integer(.min), .double(0.1), .double(.infinity)]),
    ]
    var text: [UInt8] = []
    value.write(to: &text)
    #expect(
      String(decoding: text, as: UTF8.self)
        == #"{"a\"\\":"\u0000\u0009\n\u000d\u001f\u007f"# + "\u{80}\u{2028}é\u{1F600}"
        + #"","b":{},"c":[],"d":[-9223372036854775808,0.1,null]}"#
    )
  }

  @Test func `random input is parsed or refused, and a parsed value round-trips`() throws {
    var generator = SplitMix64(seed: 3)
    let alphabet = Array("{}[]\",:0123456789.eE+-\\untrfalse \u{E9}".utf8)
    var values = 0
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 1..<12, using: &generator)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
      }
      guard let value = try? JSONParser.parse(bytes) else { continue }
      values += 1
      var text: [UInt8] = []
      value.write(to: &text)
      #expect(try JSONParser.parse(text) == value)
    }
    #expect(values > 100)
  }
}
