import ArgumentParser
import ObjectStoreModel

/// The options that say which items.
struct ItemFilter: ParsableArguments {
  @Option(name: .shortAndLong, help: "Items with this tag; given twice, with both.")
  var tag: [String] = []

  @Option(name: .shortAndLong, help: "Items at this place.")
  var place: String?

  @Option(help: ArgumentHelp("Items of which there are at most so many.", valueName: "count"))
  var low: Int?

  /// The condition: a value that any transaction, or an observation, can use.
  var condition: Filter<Item> {
    let columns = Item.columns
    var condition = Filter<Item>.all
    for tag in tag { condition = condition && columns.tags.contains(tag) }
    if let place { condition = condition && columns.place == Reference(place) }
    if let low { condition = condition && columns.quantity <= low }
    return condition
  }
}
