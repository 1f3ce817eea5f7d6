import Foundation
import ObjectStoreModel

/// Pieces that came or went.
@Model
struct Movement: Equatable {
  #Index<Movement>([\.item, \.date])

  @PrimaryKey var id: UUID
  /// The movements of an item go with it.
  @OnDelete(.cascade) var item: Reference<Item>
  var date: Date
  /// How many came; negative when they went.
  var change: Int
  var reason: String?
}
