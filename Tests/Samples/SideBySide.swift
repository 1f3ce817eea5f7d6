// What the samples of the comparison with other libraries stand in.
import Downloads
import Foundation
import ObjectStoreModel

/// Returns a value that the text around a sample has.
func some<Value>() -> Value { fatalError("samples are only compiled") }

@Model struct Folder {
  @PrimaryKey var id: Int
  var title: String
}

@Model struct Note {
  @PrimaryKey var id: Int
  @Indexed var title: String
  var stars: Int = 0
  @OnDelete(.cascade) var folder: Reference<Folder>
}

var store: Store { some() }
var folder: String { some() }
var url: String { some() }
var note: Note { some() }
var notes: [Note] { some() }
var query: Query<Note> { some() }
var token: PageToken { some() }
func show<Value>(_ value: Value) {}
func update(_ rows: some Collection, _ changes: [Int]...) {}
var engine: DownloadEngine { some() }
var handle: DownloadHandle { some() }
var request: DownloadRequest { some() }
var digest: Digest { some() }
var transport: URLSessionTransport { some() }
