import ArgumentParser
import InventoryModels
import ObjectStoreModel

/// The options that select items.
struct ItemFilter: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: "Only items with this tag; repeatable, for items with all tags."
  )
  var tag: [String] = []

  @Option(name: .shortAndLong, help: "Only items at this place.")
  var place: String?

  @Option(help: ArgumentHelp("Only items with at most this quantity.", valueName: "quantity"))
  var low: Int?

  /// The condition as a value, which transactions and observations can share.
  var condition: Filter<Item> {
    let columns = Item.columns
    var condition = Filter<Item>.all
    for tag in tag { condition = condition && columns.tags.contains(tag) }
    if let place { condition = condition && columns.place == Reference(place) }
    if let low { condition = condition && columns.quantity <= low }
    return condition
  }
}
