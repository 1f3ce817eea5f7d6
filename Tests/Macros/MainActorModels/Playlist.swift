public import Foundation
public import ObjectStoreModel

/// A model that uses every macro, in a module isolated to the main actor.
@Model
public struct Playlist: Equatable {
  #Index<Playlist>([\.year, \.tracks])
  #Unique<Playlist>([\.owner, \.year])
  /// The owner of the list.
  @PrimaryKey public var owner: String
  /// The name of the list.
  @PrimaryKey public var name: String
  /// The tracks, in order.
  @OnDelete(.nullify) public var tracks: [Reference<Track>] = []
  /// The year of the list.
  public var year: Int = 0
  /// The playback options.
  public var mode: PlayMode = PlayMode(speed: 1)
  /// The price.
  @Unique public var price: Decimal?

  /// Creates a list.
  public init(owner: String, name: String) {
    self.owner = owner
    self.name = name
  }
}

/// The playback options of a list.
@Embedded
public struct PlayMode: Equatable {
  /// The playback speed; 1 is the recorded speed.
  public var speed: Double
  /// The duration of the fade between tracks, in seconds.
  public var fade: Float? = 2

  /// Creates options with a playback speed.
  public init(speed: Double) {
    self.speed = speed
  }
}

/// Uses the primary key in nonisolated code.
public nonisolated func keyOfPlaylist(_ owner: String, _ name: String) -> Playlist.PrimaryKey {
  Playlist.PrimaryKey(owner: owner, name: name)
}
