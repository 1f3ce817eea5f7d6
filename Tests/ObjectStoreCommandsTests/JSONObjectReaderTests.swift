import ObjectStore
import Testing

@testable import CommandLineSupport

/// The reader of JSON objects.
struct JSONObjectReaderTests {
  private static func objects(
    _ text: String,
    partsOf size: Int = 1 << 18
  ) throws -> [JSONObjectReader.Object] {
    var reader = JSONObjectReader(InputBytes(Array(text.utf8), partsOf: size))
    var objects: [JSONObjectReader.Object] = []
    while let object = try reader.next() { objects.append(object) }
    return objects
  }

  @Test(
    arguments: [
      ("", 0), (" \n", 0), ("[]", 0), (" [ \n ] \n", 0), ("[{}]", 1), ("{}", 1), ("{}{}\n{}", 3),
      ("[{\"a\":1},\n{\"a\":[{}, \"]}\"]}]\n", 2), ("{\"a\":\"\\\"}\"}\n{\"a\":2}\n\n", 2),
      ("{\n  \"a\": {\n    \"b\": 1\n  }\n}\n{\n}", 2), ("\u{FEFF}[{}]", 1),
      ("[ {} , {} ]", 2), ("{\"a\":\"\\\\\"} {}", 2),
    ]
  )
  func `arrays and sequences of objects are read, wherever a part of the file ends`(
    text: String,
    count: Int
  ) throws {
    for size in [1, 2, 3, 1 << 18] {
      let objects = try Self.objects(text, partsOf: size)
      #expect(objects.map(\.number) == Array(0..<count).map { $0 + 1 })
    }
  }

  @Test func `an object has its line and its members`() throws {
    let objects = try Self.objects("[{\"a\":1,\n\"b\":null},\n\n{\"a\":\"x\"}]")
    #expect(objects.map(\.line) == [1, 4])
    #expect(objects[0].members.map(\.name) == ["a", "b"])
    #expect(objects[1].members.first?.value == .string("x"))
  }

  @Test(
    arguments: [
      ("[{}", 1, "not closed"), ("[{}\n{}]", 2, "expected ',' or ']'"), ("[{}]\n[", 2, "follows"),
      ("[1]", 1, "expected an object"), ("{}\n[{}]", 2, "expected an object"),
      ("\n{\"a\":1", 2, "not closed"), ("[{},]", 1, "expected an object"),
      ("{\"a\":1}\n{\n\"a\":1,\n\"a\":2}", 4, "duplicate member name"),
      ("{\"a\":01}", 1, "invalid JSON"), ("{\"a\":[}", 1, "not closed"), ("null", 1, "expected"),
      ("{\"a\":\"\u{1}\"}", 1, "control character"),
    ]
  )
  func `mistakes are found with their lines`(text: String, line: Int, reason: String) {
    for size in [1, 1 << 18] {
      let error = #expect(throws: RowError.self) { try Self.objects(text, partsOf: size) }
      #expect(error?.line == line && error?.reason.contains(reason) == true, "\(error as Any)")
    }
  }

  @Test func `an object that is too long ends the reading`() {
    var parts = 0
    let source = InputBytes {
      parts += 1
      return Array("{\"a\":[".utf8) + [UInt8](repeating: 0x20, count: 94)
    }
    var reader = JSONObjectReader(source, maximumRowLength: 1_000)
    let error = #expect(throws: RowError.self) { try reader.next() }
    #expect(error?.line == 1 && error?.object == 1)
    #expect(parts == 11)
  }
}
