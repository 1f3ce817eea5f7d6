import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct PlaceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "place",
    abstract: "Adds, lists and removes places.",
    subcommands: [Add.self, List.self, Remove.self]
  )

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Adds a place.")

    @OptionGroup var location: StoreLocation
    @Argument(help: "The name of the place.") var name: String
    @Option(help: "Free text.") var notes: String?

    func run() throws {
      try location.open().write { tx in try tx.insert(Place(name: name, notes: notes)) }
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the places.")

    @OptionGroup var location: StoreLocation

    func run() throws {
      var table = Table("PLACE", "ITEMS", "NOTES")
      try location.openForReading().read { tx in
        for place in try tx.fetch(Place.all.order(by: \.name)) {
          // Counts entries of the index on references; reads no item.
          let count = try tx.count(Place.items(of: place))
          table.add(place.name, "\(count)", place.notes ?? "")
        }
      }
      Console.print(table.lines)
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes a place that has no items."
    )

    @OptionGroup var location: StoreLocation
    @Argument(help: "The name of the place.") var name: String

    func run() throws {
      let isRemoved = try location.open(.readWrite).write { try $0.delete(Place.self, key: name) }
      guard isRemoved else { throw StoreError(.notFound, "there is no place \(name)") }
    }
  }
}
