import CommandTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import ObjectStoreCommands

// Rows from a pipe, from PostgreSQL and from SQLite.

extension RowImportTests {
  // MARK: The built tool

  @Test func `rows are read from standard input`() async throws {
    let command = "objectstore '\(store)' import --model Note --format"
    let csv = try await BuiltProcess.run(
      shell: "printf 'id,text\\n2,two\\n' | \(command) csv -"
    )
    #expect(csv.status == 0 && csv.output == "objects: 1 added\n", "\(csv)")
    let json = try await BuiltProcess.run(
      shell: "printf '[{\"id\":3,\"text\":\"three\"}]' | \(command) json -"
    )
    #expect(json.status == 0 && json.output == "objects: 1 added\n", "\(json)")
    let empty = try await BuiltProcess.run(shell: "\(command) json - </dev/null")
    #expect(empty.status == 0 && empty.output == "objects: 0 added\n", "\(empty)")
    let wrong = try await BuiltProcess.run(
      shell: "printf 'id,text\\n4,four\\nfive,5' | \(command) csv -"
    )
    #expect(wrong.status == 65 && wrong.messages.contains("standard input: line 3"), "\(wrong)")
    #expect(try notes().map(\.id) == [1, 2, 3])
  }

  // MARK: PostgreSQL

  /// What PostgreSQL 15 writes for a table with `bigint`, `text`, `timestamptz`, `double precision`,
  /// `boolean` and `bytea`: with `\copy … CSV HEADER`, and with `json_agg(row)` in `psql -At`.
  private static let postgresFiles = [
    #"""
    key,number,at,length,isDone,photo,remark
    a,1,2026-01-31 08:00:00.25+00,Infinity,t,\xcafe,"say ""hi"", é
    x"
    b,2,,,f,,""
    c,3,,1e+300,,\x,c

    """#,
    #"""
    [{"key":"a","number":1,"at":"2026-01-31T08:00:00.25+00:00","length":"Infinity",\#
    "isDone":true,"photo":"\\xcafe","remark":"say \"hi\", é\nx"},
     {"key":"b","number":2,"at":null,"length":null,"isDone":false,"photo":null,"remark":""},
     {"key":"c","number":3,"at":null,"length":1e+300,"isDone":null,"photo":"\\x","remark":"c"}]

    """#,
  ]

  @Test(arguments: [(ImportCommand.Format.csv, 0), (.json, 1)])
  func `a table that PostgreSQL writes is imported`(
    format: ImportCommand.Format,
    file: Int
  ) async throws {
    let result = try await load(Self.postgresFiles[file], format, into: "Visit")
    #expect(result.output == "objects: 3 added\n", "\(result)")
    var first = SampleVisit("a", 1)
    first.at = Date(timeIntervalSince1970: 1_769_846_400.25)
    first.length = .infinity
    first.isDone = true
    first.photo = Data([0xCA, 0xFE])
    first.remark = "say \"hi\", é\nx"
    var second = SampleVisit("b", 2)
    second.isDone = false
    second.remark = ""
    var third = SampleVisit("c", 3)
    third.length = 1e300
    third.photo = Data()
    third.remark = "c"
    #expect(try ["a", "b", "c"].map(visit) == [first, second, third])
  }

  // MARK: SQLite

  private static let sqlite = "/usr/bin/sqlite3"
  private static var hasSQLite: Bool { FileManager.default.isExecutableFile(atPath: sqlite) }

  private static let table = """
    CREATE TABLE v(name TEXT, nr INT, at TEXT, unix INT, len REAL, done BOOL, photo BLOB, rem TEXT);
    INSERT INTO v VALUES
      ('a', 1, '2026-01-31 08:00:00', 1769846400, 1.5, 1, x'00ff10', 'say "hi", \\ é' || char(10)),
      ('b', 2, NULL, NULL, NULL, NULL, NULL, NULL), ('c', -3, NULL, NULL, 1e300, 0, x'', '');
    """

  /// The visits of the table.
  private var tableVisits: [SampleVisit] {
    var first = SampleVisit("a", 1)
    first.at = Date(timeIntervalSince1970: 1_769_846_400)
    first.length = 1.5
    first.isDone = true
    first.photo = Data([0x00, 0xFF, 0x10])
    first.remark = "say \"hi\", \\ é\n"
    var third = SampleVisit("c", -3)
    third.length = 1e300
    third.isDone = false
    third.photo = Data()
    third.remark = ""
    return [first, SampleVisit("b", 2), third]
  }

  @Test(
    .enabled(if: hasSQLite, "needs sqlite3: make test-deps"),
    arguments: [
      ("-json", "json", "at", "nullif(quote(photo), 'NULL')"),
      ("-csv -header", "csv", "at", "nullif(quote(photo), 'NULL')"),
      ("-json", "json", "unix", "iif(photo IS NULL, NULL, '\\x' || hex(photo))"),
    ]
  )
  func `a table that sqlite3 writes is imported`(
    option: String,
    format: String,
    dates: String,
    photo: String
  ) async throws {
    let script = try folder.makeFile("table.sql", Self.table)
    let query = "SELECT name, nr, \(dates) AS at, len, done, \(photo) AS photo, rem FROM v"
    let result = try await BuiltProcess.run(
      in: folder.path,
      shell: """
        sqlite3 v.db <'\(script)' && sqlite3 \(option) v.db "\(query)" |
        objectstore '\(store)' import --format \(format) --model Visit --numeric-dates unix --map key=name \
        --map number=nr --map length=len --map isDone=done --map remark=rem -
        """
    )
    #expect(result.output == "objects: 3 added\n", "\(result)")
    #expect(try tableVisits.map(\.key).map(visit) == tableVisits)
  }
}
