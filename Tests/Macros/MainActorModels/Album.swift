public import Foundation
public import ObjectStoreModel

/// A namespace with a model, and with a type that a field of the model uses.
public enum Shelf {
  /// The medium of an album.
  public enum Medium: Int64, FieldValue {
    /// A vinyl record.
    case vinyl
    /// A compact disc.
    case compactDisc
  }

  /// A model inside another type.
  @Model
  public struct Album {
    /// The primary key.
    @PrimaryKey public var title: String
    /// The medium.
    public var medium: Medium = .vinyl
    /// The release date.
    @Indexed public var released: Date?

    /// Creates an album.
    public init(title: String) {
      self.title = title
    }
  }
}
