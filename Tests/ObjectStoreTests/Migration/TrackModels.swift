import ObjectStore

/// The layout in which the models below are stored.
protocol TrackLayout {
  static var layout: StorageLayout { get }
}

enum InSequence: TrackLayout { static let layout = StorageLayout.sequential }
enum InKeyOrder: TrackLayout { static let layout = StorageLayout.byKey }

/// The first version of a track.
struct OldTrack<Layout: TrackLayout>: Model, Hashable {
  struct Columns: Sendable {
    let title = Column<OldTrack, String>(position: 1)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Track",
      fields: [
        FieldSchema("id", Int64.self, isPrimaryKey: true),
        FieldSchema("title", String.self, isIndexed: true),
        FieldSchema("length", String.self, isIndexed: true),
        FieldSchema("note", String.self, isOptional: true),
        FieldSchema("plays", Int64.self, isHot: true),
        FieldSchema("skips", Int32.self, isHot: true),
      ],
      layout: Layout.layout
    )
  }

  var id: Int64
  var title: String
  var length: String
  var note: String?
  var plays: Int64
  var skips: Int32
  var primaryKey: Int64 { id }

  init(_ id: Int64) {
    self.id = id
    title = "Artist \(id % 13): song \(id)"
    length = "\(id % 7):\(10 + id % 50)"
    note = id % 3 == 0 ? nil : "note \(id)"
    plays = id * 5
    skips = Int32(id % 11)
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    title = try record.value(at: 1)
    length = try record.value(at: 2)
    note = try record.optional(at: 3)
    plays = try record.value(at: 4)
    skips = try record.value(at: 5)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(title)
    record.encode(length)
    record.encode(note)
    record.encode(plays)
    record.encode(skips)
  }
}

/// The second version of a track: its length is a number, and its artist has a field.
struct Track<Layout: TrackLayout>: Model, Hashable {
  struct Columns: Sendable {
    let id = Column<Track, Int64>(position: 0)
    let title = Column<Track, String>(position: 1)
    let length = Column<Track, Int64>(position: 2)
    let artist = Column<Track, String>(position: 3)
    let remark = Column<Track, String?>(position: 4)
    let plays = Column<Track, Int64>(position: 5)
    let skips = Column<Track, Int64>(position: 6)
    let rating = Column<Track, Int64?>(position: 7)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Track",
      fields: [
        FieldSchema("id", Int64.self, isPrimaryKey: true),
        FieldSchema("title", String.self, isIndexed: true),
        FieldSchema("length", Int64.self, isIndexed: true),
        FieldSchema("artist", String.self, isIndexed: true),
        FieldSchema("remark", String.self, isOptional: true),
        FieldSchema("plays", Int64.self, isHot: true),
        FieldSchema("skips", Int64.self, isHot: true),
        FieldSchema("rating", Int64.self, optionalDefault: 3),
      ],
      layout: Layout.layout
    )
  }

  var id: Int64
  var title: String
  var length: Int64
  var artist: String
  var remark: String?
  var plays: Int64
  var skips: Int64
  var rating: Int64? = 3
  var primaryKey: Int64 { id }

  /// What the step makes of a track.
  init(_ id: Int64) {
    let old = OldTrack<Layout>(id)
    self.id = id
    title = old.title
    length = id % 7 * 60 + 10 + id % 50
    artist = "Artist \(id % 13)"
    remark = old.note
    plays = old.plays
    skips = Int64(old.skips)
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    title = try record.value(at: 1)
    length = try record.value(at: 2)
    artist = try record.value(at: 3)
    remark = try record.optional(at: 4)
    plays = try record.value(at: 5)
    skips = try record.value(at: 6)
    rating = try record.optional(at: 7)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(title)
    record.encode(length)
    record.encode(artist)
    record.encode(remark)
    record.encode(plays)
    record.encode(skips)
    record.encode(rating)
  }
}

/// The third version of a track: its length has a fraction, and there are no skips.
struct NewestTrack<Layout: TrackLayout>: Model, Hashable {
  struct Columns: Sendable {
    let length = Column<NewestTrack, Double>(position: 2)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Track",
      fields: [
        FieldSchema("id", Int64.self, isPrimaryKey: true),
        FieldSchema("title", String.self, isIndexed: true),
        FieldSchema("length", Double.self, isIndexed: true),
        FieldSchema("artist", String.self, isIndexed: true),
        FieldSchema("plays", Int64.self, isHot: true),
      ],
      layout: Layout.layout
    )
  }

  var id: Int64
  var title: String
  var length: Double
  var artist: String
  var plays: Int64
  var primaryKey: Int64 { id }

  init(_ track: Track<Layout>) {
    id = track.id
    title = track.title
    length = Double(track.length) + 0.5
    artist = track.artist.uppercased()
    plays = track.plays
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    title = try record.value(at: 1)
    length = try record.value(at: 2)
    artist = try record.value(at: 3)
    plays = try record.value(at: 4)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(title)
    record.encode(length)
    record.encode(artist)
    record.encode(plays)
  }
}

enum TrackSteps {
  /// An error of a step for one object.
  struct Unreadable: Error {}

  static func second(_ mode: MigrationStep.Mode = .whenRead, failing: Int64? = nil) -> MigrationStep
  {
    MigrationStep(
      "count seconds, and give artists a field",
      to: 2,
      mode: mode,
      [
        .renameField("note", of: "Track", to: "remark"),
        .change("Track", fields: ["length", "artist", "skips"]) { old, new in
          if try old.value("id", as: Int64.self) == failing { throw Unreadable() }
          let parts = try old.value("length", as: String.self).split(separator: ":")
          new.set("length", to: (Int64(parts[0]) ?? 0) * 60 + (Int64(parts[1]) ?? 0))
          let title = try old.value("title", as: String.self)
          new.set("artist", to: String(title.prefix { $0 != ":" }))
          new.set("skips", to: Int64(try old.value("skips", as: Int32.self)))
        },
      ]
    )
  }

  static func third(_ mode: MigrationStep.Mode = .whenRead) -> MigrationStep {
    MigrationStep(
      "count fractions of seconds",
      to: 3,
      mode: mode,
      [
        .removeField("skips", of: "Track"),
        .removeField("remark", of: "Track"),
        .change("Track", fields: ["length", "artist"]) { old, new in
          new.set("length", to: Double(try old.value("length", as: Int64.self)) + 0.5)
          new.set("artist", to: try old.value("artist", as: String.self).uppercased())
        },
      ]
    )
  }
}
