import ObjectStoreModel

/// Where items are kept.
@Model
struct Place: Equatable {
  @PrimaryKey var name: String
  var notes: String?

  /// The items that are kept here.
  static let items = Inverse(\Item.Columns.place)
}
