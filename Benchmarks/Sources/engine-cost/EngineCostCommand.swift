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
    let (youngTime, oldTime) = (times.young.median, times.old.median)
    let pages = try await old.pagesOfCheckpoints(rounds)
    let changed = "pages that a checkpoint of \(active) downloads changes"
    print("| what | figure | target |")
    print("|---|---|---|")
    print("| ready with \(active) active records, ms | \(youngTime.milliseconds) | |")
    print("| the same beside \(finished) finished ones, ms | \(oldTime.milliseconds) | |")
    print("| ratio | \(ratio(oldTime, youngTime)) | at most 1.2 |")
    print("| \(changed) | \(pages.median) | at most 100 |")
  }

  private func ratio(_ one: Duration, _ other: Duration) -> String {
    String(format: "%.2f", one / other)
  }
}

extension [Duration] {
  var median: Duration { sorted()[count / 2] }
}

extension [Int] {
  var median: Int { sorted()[count / 2] }
}

extension Duration {
  var milliseconds: String { String(format: "%.2f", self / .milliseconds(1)) }
}
