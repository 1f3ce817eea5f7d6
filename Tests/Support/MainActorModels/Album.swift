public import Foundation
public import ObjectStoreModel

/// Holds a model that has a field of a type beside it.
public enum Shelf {
  /// What an album lies on.
  public enum Medium: Int64, FieldValue {
    /// A disc that is read by a needle.
    case vinyl
    /// A disc that is read by light.
    case compactDisc
  }

  /// A model inside another type.
  @Model
  public struct Album {
    /// What tells one album from another.
    @PrimaryKey public var title: String
    /// What it lies on.
    public var medium: Medium = .vinyl
    /// The day it came out.
    @Indexed public var released: Date?

    /// Makes an album.
    public init(title: String) {
      self.title = title
    }
  }
}
