internal import CommandLineSupport
internal import ObjectStore

/// A fuzzer of the readers of CSV and JSON rows, and of the conversion of their values.
///
/// The first byte of an input selects the format and the size of the parts in which the rest is
/// read.
public struct RowFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "rows"

  /// The description for `--help`.
  public static let summary = "Reads mutated files of CSV and JSON rows."

  /// One type of each kind.
  private static let types: [FieldType] = [
    .bool, .signed(bits: 16), .unsigned(bits: 64), .float, .double, .decimal, .date, .uuid,
    .string, .data, .array(.double), .set(.string), .dictionary(.string, .date),
    .dictionary(.signed(bits: 8), .array(.bool)),
  ]

  /// A row of either format.
  private struct Row: Equatable {
    var line: Int
    var names: [String] = []
    var values: [JSONValue]
  }

  /// The rows before the end of the file or the first mistake.
  private struct Result: Equatable {
    var rows: [Row] = []
    var error: RowError?
  }

  private var mutator: RowMutator

  /// Creates a fuzzer whose mutations are determined by a seed.
  public init(seed: UInt64) {
    mutator = RowMutator(seed: seed)
  }

  /// Mutates words or bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Reads the rows and converts their values.
  ///
  /// - The parts in which the file is read make no difference.
  /// - The lines of rows ascend, and no line is after the end of the file.
  /// - Rows that are written and read again are the same.
  /// - A converted value survives an export.
  ///
  /// - Throws: ``FuzzViolation``, or an error that is no ``RowError``.
  public func check(_ input: [UInt8]) throws -> String {
    let choice = Int(input.first ?? 0)
    let isCSV = choice & 1 == 0
    let bytes = Array(input.dropFirst())
    let whole = try read(bytes, isCSV, partsOf: bytes.count)
    guard try read(bytes, isCSV, partsOf: 1 + choice >> 1 & 15) == whole else {
      throw FuzzViolation("the size of the parts makes a difference: \(whole)")
    }
    let lineCount = 1 + bytes.count { $0 == 0x0A || $0 == 0x0D }
    let lines = whole.rows.map(\.line) + (whole.error.map { [$0.line] } ?? [])
    guard zip(lines, lines.dropFirst()).allSatisfy(<=), lines.allSatisfy({ $0 >= 1 }),
      lines.last ?? 1 <= lineCount
    else { throw FuzzViolation("the lines \(lines) do not fit a file of \(lineCount)") }
    try checkWriting(of: whole.rows, isCSV)
    var converted: Set<String> = []
    for value in whole.rows.flatMap(\.values) { converted.formUnion(try convert(value)) }
    let reason = whole.error?.reason ?? "none"
    return "\(isCSV ? "CSV" : "JSON") \(min(whole.rows.count, 2)) rows, error \(reason), "
      + converted.sorted().joined(separator: " ")
  }

  private func read(_ bytes: [UInt8], _ isCSV: Bool, partsOf size: Int) throws -> Result {
    var rest = bytes[...]
    let source = InputBytes {
      defer { rest = rest.dropFirst(max(1, size)) }
      return Array(rest.prefix(max(1, size)))
    }
    var result = Result()
    do {
      if isCSV {
        var reader = CSVReader(source)
        while let row = try reader.next() {
          result.rows.append(Row(line: row.line, values: row.cells.map { .string($0.text) }))
        }
      } else {
        var reader = JSONObjectReader(source)
        while let object = try reader.next() {
          let members = object.members
          result.rows.append(
            Row(line: object.line, names: members.map(\.name), values: members.map(\.value))
          )
        }
      }
    } catch let error as RowError {
      result.error = error
    }
    return result
  }

  private func checkWriting(of rows: [Row], _ isCSV: Bool) throws {
    var text: [UInt8] = isCSV ? Array("first\n".utf8) : []
    // An empty cell alone is a blank line.
    let rows = rows.filter { !isCSV || $0.values != [.string("")] }
    for row in rows {
      if isCSV {
        let cells = row.values.map { if case .string(let text) = $0 { text } else { "" } }
        text += Array((CSVOutput.line(cells) + "\n").utf8)
      } else {
        let members = zip(row.names, row.values).map { JSONValue.Member(name: $0, value: $1) }
        JSONValue.object(members).write(to: &text)
        text.append(0x0A)
      }
    }
    let again = try read(text, isCSV, partsOf: 100)
    let read = isCSV ? Array(again.rows.dropFirst()) : again.rows
    guard again.error == nil, read.map(\.values) == rows.map(\.values),
      read.map(\.names) == rows.map(\.names)
    else { throw FuzzViolation("the rows \(rows) are read as \(again)") }
  }

  /// Returns the types to which a value can be converted.
  private func convert(_ json: JSONValue) throws -> [String] {
    try Self.types.compactMap { type in
      guard let value = ImportedValue(numericDates: .unix).value(json, type) else { return nil }
      let exported = StoredValue(json: value.json, type: type)
      // Descriptions, because NaN does not equal itself.
      guard let exported, "\(exported)" == "\(value)" else {
        throw FuzzViolation("the \(type) \(value) of \(json) is exported as \(value.json)")
      }
      return "\(type)"
    }
  }
}
