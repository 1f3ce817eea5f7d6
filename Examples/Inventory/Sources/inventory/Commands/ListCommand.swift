import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists items, a page at a time."
  )

  enum Order: String, ExpressibleByArgument, CaseIterable {
    case name, quantity, price, sku
  }

  @OptionGroup var location: StoreLocation
  @OptionGroup var filter: ItemFilter
  @Option(help: "The sort order.") var by = Order.name
  @Flag(help: "Sorts in descending order.") var descending = false
  @Option(help: "The number of items on a page.") var size = 50
  @Option(
    help: "Continues after a page, with the token printed below it.",
    transform: ListCommand.token
  )
  var after: PageToken?
  @Flag(help: "Prints the query plan instead of the items.") var explain = false

  func validate() throws {
    guard size > 0 else { throw ValidationError("--size must be at least 1") }
  }

  func run() throws {
    try location.openForReading().read { tx in
      if explain { return Console.print("\(try tx.explain(query.limit(size)))") }
      let page = try tx.page(query, size: size, after: after)
      Console.print(Table(items: page.objects).lines)
      if let next = page.next { Console.note("more: --after \(next)") }
    }
  }

  private var query: Query<Item> {
    let items = Query(filter.condition)
    let direction = descending ? SortDirection.descending : .ascending
    return switch by {
    case .name: items.order(by: \.name, direction)
    case .quantity: items.order(by: \.quantity, direction)
    case .price: items.order(by: \.price, direction)
    case .sku: items.order(by: \.sku, direction)
    }
  }

  private static func token(_ text: String) throws -> PageToken {
    guard let token = PageToken(text) else {
      throw ValidationError("--after is not a token printed by list")
    }
    return token
  }
}
