public import Foundation
public import ObjectStoreModel

/// A model in a module whose default isolation is the main actor.
@Model
public struct Track {
  /// The primary key.
  @PrimaryKey public var id: UUID
  /// The mood.
  @Indexed public var mood: Mood = .calm
  /// The number of times the track was played.
  @Hot public var playCount: Int64 = 0 {
    didSet { isSelected = false }
  }
  /// A constant stored property.
  public let cover: Data?
  /// Whether the user has selected the track.
  @Transient public var isSelected = false

  /// Creates a track with a play count of zero.
  public init(id: UUID, cover: Data? = nil) {
    self.id = id
    self.cover = cover
  }

  /// The mood of a track.
  public enum Mood: String, FieldValue {
    /// Quiet.
    case calm
    /// Loud.
    case wild
  }
}

/// Uses the conformance in nonisolated code.
public nonisolated func schemaOfTrack() -> ModelSchema {
  schema(of: Track.self)
}

private nonisolated func schema<Root: Model>(of type: Root.Type) -> ModelSchema {
  Root.schema
}
