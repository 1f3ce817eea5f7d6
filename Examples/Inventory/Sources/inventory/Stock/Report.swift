import Foundation
import InventoryModels
import ObjectStoreModel

/// The stock and its value, in total and per place.
struct Report {
  struct Line {
    var place: String
    var items: Int
    var pieces: Int
    var value: Decimal
  }

  var lines: [Line] = []
  var pieces = 0
  var value: Decimal = 0
  var highestPrice: Decimal?

  /// Reads one snapshot, so that the lines add up even if another process writes at the same time.
  init(_ tx: borrowing Snapshot) throws {
    for section in try tx.sections(Item.all, by: \.place) {
      guard let place = section.value else { continue }
      let items = Place.items(of: place)
      let line = Line(
        place: place.key,
        items: section.count,
        pieces: try tx.sum(items, of: \.quantity),
        // Decodes only two fields of each item.
        value: try tx.fetch(items) { (try $0.price ?? 0) * Decimal(try $0.quantity) }.reduce(0, +)
      )
      lines.append(line)
      pieces += line.pieces
      value += line.value
    }
    highestPrice = try tx.max(Item.all, of: \.price)
  }
}
