import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Lists items, then prints each change by any process, until it is interrupted."
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var filter: ItemFilter
  @Option(help: "Exits after this number of lines.") var lines: Int?

  func run() async throws {
    let store = try location.openForReading()
    let query = Query(filter.condition).order(by: \.name)
    var before = ResultSnapshot<Item>()
    var printed = 0
    for try await change in store.observe(query) {
      for line in text(of: change, since: before) {
        Console.print(line)
        printed += 1
        if printed == lines { return }
      }
      before = change.snapshot
    }
  }

  /// Deletions are indices in the previous snapshot; the others are indices in the new one.
  private func text(
    of change: ResultChange<Item>,
    since before: ResultSnapshot<Item>
  ) -> [String] {
    guard !change.isInitial else { return change.snapshot.map { "= \($0.summary)" } }
    return change.deletions.map { "- \(before[$0].summary)" }
      + change.insertions.map { "+ \(change.snapshot[$0].summary)" }
      + change.modifications.map { "~ \(change.snapshot[$0].summary)" }
  }
}
