import Foundation
import ObjectStoreModel

/// What there is, in all and place by place.
struct Report {
  struct Line {
    var place: String
    var items: Int
    var pieces: Int
    var worth: Decimal
  }

  var lines: [Line] = []
  var pieces = 0
  var worth: Decimal = 0
  var dearest: Decimal?

  /// Reads one snapshot, so that the lines add up whatever is written meanwhile.
  init(_ tx: borrowing Snapshot) throws {
    for section in try tx.sections(Item.all, by: \.place) {
      guard let place = section.value else { continue }
      let items = Place.items(of: place)
      let line = Line(
        place: place.key,
        items: section.count,
        pieces: try tx.sum(items, of: \.quantity),
        // Reads two fields of each item and decodes no other.
        worth: try tx.fetch(items) { (try $0.price ?? 0) * Decimal(try $0.quantity) }.reduce(0, +)
      )
      lines.append(line)
      pieces += line.pieces
      worth += line.worth
    }
    dearest = try tx.max(Item.all, of: \.price)
  }
}
