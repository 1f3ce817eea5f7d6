import Foundation
import MainActorModels
import ObjectStoreModel
import Testing

@Suite struct MainActorModelTests {
  @Test func `a model of a MainActor module can be used from any isolation`() {
    #expect(schemaOfTrack() == Track.schema)
    #expect(
      Track.schema
        == ModelSchema(
          name: "Track",
          fields: [
            FieldSchema("id", UUID.self, isPrimaryKey: true),
            FieldSchema("mood", Track.Mood.self, default: .calm, isIndexed: true),
            FieldSchema("playCount", Int64.self, default: 0, isHot: true),
            FieldSchema("cover", Data.self, isOptional: true),
          ]
        )
    )
    #expect(Track.columns.playCount.position == 2)
  }

  @Test func `a nested model of a MainActor module can be used from any isolation`() {
    let medium: Column<Shelf.Album, Shelf.Medium> = Shelf.Album.columns.medium
    #expect(Shelf.Album.schema.fields[medium.position].name == "medium")
    #expect(Shelf.Album.schema.fields[medium.position].type == .signed(bits: 64))
  }

  @Test func `keys, indexes and embedded values of a MainActor module can be used anywhere`() async
  {
    let list = await MainActor.run { Playlist(owner: "a", name: "b") }
    #expect(list.primaryKey == keyOfPlaylist("a", "b"))
    #expect(Playlist.schema.fields.map(\.name).last == "primaryKey")
    #expect(Playlist.schema.fields[2].reference?.onDelete == .nullify)
    #expect(PlayMode.fieldType == .embedded("PlayMode"))
    let inverse = Inverse(\Playlist.Columns.tracks)
    #expect(inverse(of: Reference(UUID())).limit == nil)
  }

  @Test func `the primary key of an object can be read off the main actor`() async {
    let id = UUID()
    let track = await MainActor.run { Track(id: id) }
    #expect(track.primaryKey == id)
  }
}
