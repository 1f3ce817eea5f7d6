package import ObjectStoreModel

/// A place where items are stored.
@Model
package struct Place: Equatable {
  @PrimaryKey package var name: String
  package var notes: String?

  package init(name: String, notes: String? = nil) {
    self.name = name
    self.notes = notes
  }

  /// The items at this place.
  package static let items = Inverse(\Item.Columns.place)
}
