import ArgumentParser
import ObjectStoreModel

@main
struct Inventory: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inventory",
    abstract: "Keeps an inventory: items, their quantities and their places.",
    subcommands: [
      PlaceCommand.self, AddCommand.self, TakeCommand.self, PutCommand.self, MoveCommand.self,
      RemoveCommand.self, ListCommand.self, FindCommand.self, ReportCommand.self,
      WatchCommand.self, HistoryCommand.self, ChangesCommand.self, ExportCommand.self,
      ImportCommand.self, BackupCommand.self, VerifyCommand.self, RepairCommand.self,
    ]
  )

  static func main() async {
    // LMDB aborts the process on some kinds of damage; exit with a status of our own instead.
    Store.exitProcessOnDamage(status: ExitStatus.dataError.rawValue)
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let error as InventoryError {
      fail(ExitStatus(error), "\(error)")
    } catch let error as StoreError {
      fail(ExitStatus(error), "\(error)")
    } catch {
      exit(withError: error)
    }
  }

  private static func fail(_ status: ExitStatus, _ message: String) -> Never {
    Console.note("inventory: \(message)")
    exit(withError: ExitCode(status.rawValue))
  }
}
