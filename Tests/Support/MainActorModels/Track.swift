public import Foundation
public import ObjectStoreModel

/// A model of a module whose code is isolated to the main actor unless it says otherwise.
@Model
public struct Track {
  /// What tells one track from another.
  @PrimaryKey public var id: UUID
  /// How it sounds.
  @Indexed public var mood: Mood = .calm
  /// How often it was heard.
  @Hot public var playCount: Int64 = 0 {
    didSet { isSelected = false }
  }
  /// A constant that is read from the record.
  public let cover: Data?
  /// Whether the user looks at it.
  @Transient public var isSelected = false

  /// Makes a track that nobody heard yet.
  public init(id: UUID, cover: Data? = nil) {
    self.id = id
    self.cover = cover
  }

  /// How a track sounds.
  public enum Mood: String, FieldValue {
    /// Quiet.
    case calm
    /// Loud.
    case wild
  }
}

/// Uses the conformance where nothing is isolated to the main actor.
public nonisolated func schemaOfTrack() -> ModelSchema {
  schema(of: Track.self)
}

private nonisolated func schema<Root: Model>(of type: Root.Type) -> ModelSchema {
  Root.schema
}
