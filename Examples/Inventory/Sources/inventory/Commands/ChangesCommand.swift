import ArgumentParser
import Foundation
import ObjectStoreModel

/// What a program outside would do that keeps a copy: a web shop, a label printer.
struct ChangesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "changes",
    abstract: "Lists the items that have changed since it was last called with the same bookmark."
  )

  @OptionGroup var location: StoreLocation
  @Argument(help: "The file in which it remembers how far it was.") var bookmark: String

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
      // The first time, or so late that the history does not reach back: everything is new.
      token = try store.read { tx in
        Console.print(try tx.fetch(Item.all).map { "= \($0.id) \($0.summary)" })
        return try tx.historyToken()
      }
    }
    try JSONEncoder().encode(token).write(to: file, options: .atomic)
  }
}
