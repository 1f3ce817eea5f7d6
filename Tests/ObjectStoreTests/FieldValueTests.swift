import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct FieldValueTests {
  @Test(arguments: [
    "https://example.com/a?b=c#d", "file:///tmp/a%20b", "relative/path", "mailto:a@b.c",
    "https://例え.jp/ü",
  ])
  func `a URL round-trips`(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(try URL(stored: url.storedBytes) == url)
    #expect(url.storedBytes == Array(url.absoluteString.utf8))
  }

  @Test func `a relative URL is stored as an absolute URL`() throws {
    let base = try #require(URL(string: "https://example.com/a/"))
    let url = try #require(URL(string: "b", relativeTo: base))
    #expect(try URL(stored: url.storedBytes).absoluteString == "https://example.com/a/b")
  }

  @Test func `decoding an invalid URL throws`() {
    #expect(throws: RecordError(.invalidValue)) { try URL(stored: []) }
    #expect(throws: RecordError(.invalidValue)) { try URL(stored: [0xFF]) }
  }

  @Test func `a query by URL uses the index`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [Price.self])
    let url = try #require(URL(string: "https://example.com"))
    try store.write { tx in
      try tx.insert(Price(id: 1, amount: 1, link: url))
      try tx.insert(Price(id: 2, amount: 2, link: nil))
    }
    try store.read { tx throws in
      let query = Query(Price.columns.link == url)
      #expect(try tx.fetch(query).map(\.id) == [1])
      #expect((try tx.explain(query)).description.contains("index (link)"))
      let withoutLink = Query(Price.columns.link == nil)
      #expect(try tx.fetch(withoutLink).map(\.id) == [2])
    }
  }

  // MARK: Embedded values

  @Test(arguments: [Address.full, Address(street: "", city: nil)])
  func `an embedded value round-trips`(address: Address) throws {
    #expect(try Address(stored: address.storedBytes) == address)
  }

  @Test func `fields added to an embedded value later are read as their defaults`() throws {
    let old = OldAddress(street: "Lane 1")
    #expect(try Address(stored: old.storedBytes) == Address(street: "Lane 1", city: "unset"))
  }

  @Test func `an older program skips unknown fields of an embedded value`() throws {
    #expect(try OldAddress(stored: Address.full.storedBytes) == OldAddress(street: "Road 2"))
  }

  @Test func `an embedded value without a required field throws missingField`() {
    #expect(throws: RecordError(.missingField)) { try Address(stored: []) }
  }

  @Test func `a truncated embedded value throws or uses defaults`() throws {
    let bytes = Address.full.storedBytes
    let decodable = (0..<bytes.count).filter {
      (try? Address(stored: Array(bytes.prefix($0)))) != nil
    }
    // The ends of the first, second and third field.
    #expect(decodable == [10, 16, 18])
  }

  @Test func `an optional flag other than 0 or 1 throws invalidValue`() {
    var bytes = OldAddress(street: "Lane 1").storedBytes
    bytes.append(2)
    #expect(throws: RecordError(.invalidValue)) { try Address(stored: bytes) }
  }

  @Test func `arrays of embedded values and dictionaries keyed by enumerations round-trip`() throws
  {
    let list = [Address.full, Address(street: "a", city: nil)]
    #expect(try [Address](stored: list.storedBytes) == list)
    let map: [Colour: [Address]] = [.red: list, .blue: []]
    #expect(try [Colour: [Address]](stored: map.storedBytes) == map)
    #expect(
      FieldType([Colour: [Address]].fieldType.description) == [Colour: [Address]].fieldType
    )
  }

  // MARK: JSON

  @Test func `a Codable value round-trips`() throws {
    let settings = Settings(name: "a/ü", ratio: .infinity, tags: ["b": [1, 2]], parent: nil)
    #expect(try Settings(stored: settings.storedBytes) == settings)
    let text = #"{"name":"a/ü","ratio":"Infinity","tags":{"b":[1,2]}}"#
    #expect(String(decoding: settings.storedBytes, as: UTF8.self) == text)
  }

  @Test(arguments: ["", "{", "{}", "[]"])
  func `decoding JSON of another shape throws invalidValue`(text: String) {
    #expect(throws: RecordError(.invalidValue)) { try Settings(stored: Array(text.utf8)) }
  }
}

struct Address: FieldValue, Hashable {
  static let fieldType = FieldType.embedded("Address")
  static let full = Address(street: "Road 2", city: "B", stars: 7, tags: ["x"])

  var street: String
  var city: String?
  var stars: UInt16 = 3
  var tags: Set<String> = []

  init(street: String, city: String?, stars: UInt16 = 3, tags: Set<String> = []) {
    self.street = street
    self.city = city
    self.stars = stars
    self.tags = tags
  }

  init(from reader: inout ByteReader) throws(RecordError) {
    street = try reader.readField()
    city = try reader.readOptionalField(default: "unset")
    stars = try reader.readField(default: 3)
    tags = try reader.readField(default: [])
  }

  func encode(to writer: inout ByteWriter) {
    writer.writeField(street)
    writer.writeField(city)
    writer.writeField(stars)
    writer.writeField(tags)
  }
}

/// The first version of ``Address``.
private struct OldAddress: FieldValue, Hashable {
  static let fieldType = FieldType.embedded("Address")
  var street: String

  init(street: String) { self.street = street }

  init(from reader: inout ByteReader) throws(RecordError) {
    street = try reader.readField()
  }

  func encode(to writer: inout ByteWriter) {
    writer.writeField(street)
  }
}

private struct Settings: JSONFieldValue, Equatable {
  var name: String
  var ratio: Double
  var tags: [String: [Int]]
  var parent: [Int]?
}
