import ObjectStoreModel

/// A place where items are stored.
@Model
struct Place: Equatable {
  @PrimaryKey var name: String
  var notes: String?

  /// The items at this place.
  static let items = Inverse(\Item.Columns.place)
}
