import ArgumentParser
import Foundation
import InventoryModels
import ObjectStoreModel

/// Shows how a program that keeps a copy of the items, such as a web shop, stays up to date.
struct ChangesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "changes",
    abstract: "Lists the changes to items since the previous run with the same bookmark."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The file that stores the position in the history; created if missing.")
  var bookmark: String

  func run() throws {
    let store = try location.openForReading()
    let file = URL(fileURLWithPath: bookmark)
    let token: HistoryToken
    if FileManager.default.fileExists(atPath: bookmark),
      case let last = try JSONDecoder().decode(HistoryToken.self, from: Data(contentsOf: file)),
      case .changes(let changes) = try store.changes(since: last, of: Item.self)
    {
      Console.print(changes.deleted.map { "- \($0)" })
      Console.print(changes.inserted.map { "+ \($0.id) \($0.summary)" })
      Console.print(
        changes.updated.map { update in
          let fields = update.fields.names.joined(separator: ", ")
          return "~ \(update.object.id) \(update.object.summary) (\(fields))"
        }
      )
      token = changes.token
    } else {
      // On the first run, or if the history no longer reaches back, list all items.
      token = try store.read { tx in
        Console.print(try tx.fetch(Item.all).map { "= \($0.id) \($0.summary)" })
        return try tx.historyToken()
      }
    }
    try JSONEncoder().encode(token).write(to: file, options: .atomic)
  }
}
