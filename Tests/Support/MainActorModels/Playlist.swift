public import Foundation
public import ObjectStoreModel

/// A model with everything that the macros write, in a module of the main actor.
@Model
public struct Playlist: Equatable {
  #Index<Playlist>([\.year, \.tracks])
  #Unique<Playlist>([\.owner, \.year])
  /// Whose list it is.
  @PrimaryKey public var owner: String
  /// Its name.
  @PrimaryKey public var name: String
  /// The tracks in order.
  @OnDelete(.nullify) public var tracks: [Reference<Track>] = []
  /// The year for which it was made.
  public var year: Int = 0
  /// How it is played.
  public var mode: PlayMode = PlayMode(speed: 1)
  /// What it costs.
  @Unique public var price: Decimal?

  /// Makes a list.
  public init(owner: String, name: String) {
    self.owner = owner
    self.name = name
  }
}

/// How a list is played.
@Embedded
public struct PlayMode: Equatable {
  /// 1 is as recorded.
  public var speed: Double
  /// How long a track fades, in seconds.
  public var fade: Float? = 2

  /// Plays at that speed.
  public init(speed: Double) {
    self.speed = speed
  }
}

/// Uses the key where nothing is isolated to the main actor.
public nonisolated func keyOfPlaylist(_ owner: String, _ name: String) -> Playlist.PrimaryKey {
  Playlist.PrimaryKey(owner: owner, name: name)
}
