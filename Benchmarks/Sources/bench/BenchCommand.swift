import ArgumentParser
import Foundation

/// Compares the store with raw LMDB and with GRDB, prints a table and writes it as JSON.
@main
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compares the store with raw LMDB in C and with GRDB, on the same records."
  )

  @Argument(help: "The number of records.")
  var count = 1_000_000

  @Option(help: "Measure only these rows: \(RowName.list).", transform: RowName.names(in:))
  var rows = Set(RowName.allCases)

  @Option(help: "Measure only these contenders: \(Contenders.names.joined(separator: ",")).")
  var contenders = Contenders.names.joined(separator: ",")

  @Option(help: "A factor for the number of measurements of each row.")
  var repetitions = 1.0

  @Option(help: "The file for the results with all samples.")
  var json = ".build/bench.json"

  private var names: [String] { contenders.split(separator: ",").map(String.init) }

  func validate() throws {
    guard count >= 1_000 else { throw ValidationError("At least 1000 records.") }
    guard !names.isEmpty, Set(names).isSubset(of: Contenders.names) else {
      throw ValidationError("The contenders are \(Contenders.names.joined(separator: ",")).")
    }
    guard repetitions > 0 else { throw ValidationError("At least some repetitions.") }
  }

  func run() async throws {
    let file = URL(filePath: json)
    let folder = file.deletingLastPathComponent().appending(path: "bench-stores")
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    var comparison = Comparison(
      count: count,
      names: names,
      folder: folder,
      wanted: rows,
      repetitionFactor: repetitions
    )
    try await comparison.run()
    let report = Report(records: count, versions: Versions.all, rows: comparison.rows)
    print(report.table)
    try report.write(to: file)
  }
}

/// The name of a row on the command line.
enum RowName: String, CaseIterable {
  case load
  case batches
  case size
  case whole
  case together
  case field
  case query
  case filter
  case upsert
  case newest
  case random
  case commit
  case reader
  case tasks
  case observe
  case open

  static var list: String { allCases.map(\.rawValue).joined(separator: ",") }

  static func names(in list: String) throws -> Set<RowName> {
    Set(
      try list.split(separator: ",").map { part in
        guard let name = RowName(rawValue: String(part)) else {
          throw ValidationError("There is no row \(part).")
        }
        return name
      }
    )
  }
}
