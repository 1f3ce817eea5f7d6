import Foundation
import ObjectStore
import Testing

@testable import CommandLineSupport

/// The conversion of other programs' values.
struct ImportedValueTests {
  private static func value(
    _ text: String,
    _ type: FieldType,
    numericDates: NumericDates? = nil
  ) -> StoredValue? {
    ImportedValue(numericDates: numericDates).value(text, type)
  }

  private static func json(_ text: String, _ type: FieldType) throws -> StoredValue? {
    let json = try JSONParser.parse(Array(text.utf8))
    return ImportedValue(numericDates: .unix).value(json, type)
  }

  @Test(
    arguments: [
      ("true", .bool, .bool(true)), ("FALSE", .bool, .bool(false)), ("t", .bool, .bool(true)),
      ("0", .bool, .bool(false)), ("2", .bool, nil), ("", .bool, nil), ("yes", .bool, nil),
      ("-128", .signed(bits: 8), .signed(-128)), ("128", .signed(bits: 8), nil),
      ("1.0", .signed(bits: 64), nil), (" 1", .signed(bits: 64), nil), ("", .signed(bits: 64), nil),
      ("18446744073709551615", .unsigned(bits: 64), .unsigned(.max)),
      ("-1", .unsigned(bits: 64), nil), ("1.5", .double, .double(1.5)),
      ("1e3", .double, .double(1000)),
      ("0x10", .double, nil), ("Infinity", .double, .double(.infinity)),
      ("-inf", .float, .float(-.infinity)), ("1e999", .double, nil), ("one", .double, nil),
      ("12.50", .decimal, .decimal(Decimal(125) / 10)), ("a,b", .string, .string("a,b")),
      ("", .string, .string("")), ("00000000-0000-0000-0000-00000000000g", .uuid, nil),
      ("yv4=", .data, .data(Data([0xCA, 0xFE]))), ("x'CAfe'", .data, .data(Data([0xCA, 0xFE]))),
      ("\\xcafe", .data, .data(Data([0xCA, 0xFE]))), ("X''", .data, .data(Data())),
      ("\\x", .data, .data(Data())), ("x'C'", .data, nil), ("x'CA", .data, nil), ("x'", .data, nil),
      ("yv\n4=\r\n", .data, .data(Data([0xCA, 0xFE]))), ("a-b", .data, nil),
      ("[1,2]", .array(.signed(bits: 64)), .array([.signed(1), .signed(2)])),
      ("[1,null]", .array(.signed(bits: 64)), nil), ("{a,b}", .array(.string), nil),
      ("[\"a\",\"b\",\"a\"]", .set(.string), .set([.string("a"), .string("b")])),
    ] as [(String, FieldType, StoredValue?)]
  )
  func `text becomes a value of the field's type`(
    text: String,
    type: FieldType,
    expected: StoredValue?
  ) {
    #expect(Self.value(text, type) == expected)
  }

  @Test(
    arguments: [
      ("1", .bool, .bool(true)), ("true", .bool, .bool(true)), ("\"f\"", .bool, .bool(false)),
      ("2", .bool, nil), ("7", .signed(bits: 8), .signed(7)),
      ("\"7\"", .signed(bits: 8), .signed(7)),
      ("7.5", .signed(bits: 8), nil), ("true", .signed(bits: 8), nil), ("7", .string, nil),
      ("\"7\"", .string, .string("7")), ("null", .string, nil), ("1", .double, .double(1)),
      ("\"Infinity\"", .double, .double(.infinity)),
      ("60", .date, .date(Date(timeIntervalSince1970: 60))),
      ("\"1970-01-01 00:01:00\"", .date, .date(Date(timeIntervalSince1970: 60))),
      ("[\"a\"]", .set(.string), .set([.string("a")])),
      ("\"[\\\"a\\\"]\"", .array(.string), .array([.string("a")])),
      ("[60]", .array(.date), .array([.date(Date(timeIntervalSince1970: 60))])),
      (
        "{\"k\":\"1\"}", .dictionary(.string, .signed(bits: 64)),
        .dictionary([StoredValue.Entry(key: .string("k"), value: .signed(1))])
      ), ("[[\"k\",1],[\"k\",2]]", .dictionary(.string, .signed(bits: 64)), nil),
      ("\"x'00'\"", .data, .data(Data([0]))), ("[0]", .data, nil), ("{}", .array(.string), nil),
    ] as [(String, FieldType, StoredValue?)]
  )
  func `JSON becomes a value of the field's type`(
    text: String,
    type: FieldType,
    expected: StoredValue?
  ) throws {
    #expect(try Self.json(text, type) == expected)
  }

  @Test func `a number becomes a date only if its meaning is given`() {
    #expect(Self.value("0", .date) == nil)
    #expect(Self.value("0", .date, numericDates: .unix) == .date(Date(timeIntervalSince1970: 0)))
    #expect(
      Self.value("-1.5", .date, numericDates: .reference)
        == .date(Date(timeIntervalSinceReferenceDate: -1.5))
    )
    #expect(Self.value("1e999", .date, numericDates: .unix) == nil)
  }

  @Test(
    arguments: [
      ("1970-01-01", 0), ("1970-01-01T00:00:00Z", 0), ("1970-01-01 00:01", 60),
      ("2000-02-29T12:00:00Z", 951_825_600), ("2026-01-31 08:00:00", 1_769_846_400),
      ("2026-01-31T09:30:00.25+01:30", 1_769_846_400.25),
      ("2026-01-31 00:00:00-0800", 1_769_846_400),
      ("2026-01-31 09:00:00.5+01", 1_769_846_400.5), ("1969-12-31t23:59:59z", -1),
      ("0001-01-01", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
    ]
  )
  func `dates are read in the forms of ISO 8601, SQLite and PostgreSQL`(
    text: String,
    seconds: Double
  ) {
    #expect(ImportedDate.date(text) == Date(timeIntervalSince1970: seconds))
  }

  @Test(arguments: [
    "", "2026", "2026-1-31", "2026-02-29", "2026-13-01", "2026-00-01", "2026-01-32", "0000-01-01",
    "2026-01-31T", "2026-01-31T24:00:00Z", "2026-01-31T08:60Z", "2026-01-31T08:00:60Z",
    "2026-01-31T08:00:00.Z", "2026-01-31T08:00:00+1", "2026-01-31T08:00:00+25:00",
    "2026-01-31T08:00:00Zx", "31.01.2026", "infinity", "2026-01-31x", "2026-01-31T08:00:00 CET",
  ])
  func `other texts are no dates`(text: String) {
    #expect(ImportedDate.date(text) == nil)
  }

  @Test func `days agree with those of Foundation`() {
    for day in stride(from: -80_000, through: 80_000, by: 61) {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 3_661.5)
      #expect(ImportedDate.date(Timestamp.text(date)) == date)
    }
  }
}
