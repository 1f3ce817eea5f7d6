import ArgumentParser
import DownloadStore
import Foundation

/// Measures the cost of an engine on a store with many finished records.
@main
struct EngineCostCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engine-cost",
    abstract: "Measures how soon an engine is ready, and how many pages a checkpoint changes."
  )

  @Option(help: "The number of finished records.")
  var finished = 1_000_000

  @Option(help: "The number of active records.")
  var active = 1_000

  @Option(help: "The number of measurements.")
  var rounds = 15

  @Option(help: "The folder for the stores.")
  var folder = NSTemporaryDirectory()

  @Option(help: "The file for the figures in JSON.")
  var json = ".build/engine.json"

  func run() async throws {
    let place = URL(filePath: folder).appending(path: "engine-cost-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: place) }
    let young = try await SampleStore(at: place + "/young", finished: 0, active: active)
    let old = try await SampleStore(at: place + "/old", finished: finished, active: active)

    // Alternate, so that other load on the machine affects both alike.
    var times: (young: [Duration], old: [Duration]) = ([], [])
    for _ in 0..<rounds {
      times.young.append(try await young.timeToReadiness())
      times.old.append(try await old.timeToReadiness())
    }
    let report = Report(
      active: active,
      finished: finished,
      ready: times.young.median.milliseconds,
      readyBesideFinished: times.old.median.milliseconds,
      pages: try await old.pagesOfCheckpoints(rounds).median
    )
    try report.write(to: URL(filePath: json))
  }
}

/// The figures of a run.
private struct Report: Encodable {
  let active: Int
  let finished: Int
  /// The time until an engine is ready without finished records, in milliseconds.
  let ready: Double
  /// The same with the finished records.
  let readyBesideFinished: Double
  /// The number of pages that a checkpoint of the active downloads changes.
  let pages: Int

  /// Prints the figures and writes them to a file.
  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let data = try encoder.encode(self)
    print(String(decoding: data, as: UTF8.self))
    try data.write(to: file)
  }
}

extension [Duration] {
  var median: Duration { sorted()[count / 2] }
}

extension [Int] {
  var median: Int { sorted()[count / 2] }
}

extension Duration {
  /// The duration in milliseconds, with two decimals.
  var milliseconds: Double { (self / .milliseconds(1) * 100).rounded() / 100 }
}
