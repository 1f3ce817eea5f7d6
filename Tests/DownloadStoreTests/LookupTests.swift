import DownloadStore
import Foundation
import ObjectStore
import TestTraits
import Testing

@Suite struct LookupTests {
  let fixture: StoreFixture
  let url = "https://example.com/a.zip"

  init() throws {
    fixture = try StoreFixture()
  }

  @Test(.requirements("MO2"))
  func `a record is found by its URL, its id or a unique prefix of the id`() throws {
    let record = try fixture.add(url).record
    #expect(try fixture.store.record(matching: url) == record)
    for length in 1...16 {
      #expect(try fixture.store.record(matching: String(record.id.prefix(length))) == record)
    }
    #expect(try fixture.store.record(matching: record.id.uppercased()) == record)
  }

  @Test(
    .requirements("ZY10", "FK18"),
    arguments: ["", "https://example.com/b.zip", "ffff", "zzz", "1d9defa430c34a6c0"]
  )
  func `looking up a name without a record throws unknownRecord`(name: String) throws {
    try fixture.add(url)
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.store.record(matching: name)
    }
    #expect(error?.code == .unknownRecord)
  }

  @Test func `URLs that differ in case are different`() throws {
    try fixture.add(url)
    #expect(throws: RecordStoreError.self) {
      try fixture.store.record(matching: "https://example.com/A.zip")
    }
  }

  @Test func `a prefix that two ids share is ambiguous`() throws {
    // More records than hexadecimal digits: two ids share a first digit.
    let records = try (0..<17).map { try fixture.add("https://example.com/\($0)").record }
    let beginnings = Dictionary(grouping: records) { $0.id.prefix(1) }
    let twice = try #require(beginnings.first { $0.value.count > 1 })
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.store.record(matching: String(twice.key))
    }
    #expect(error?.code == .ambiguousID)
    #expect(try fixture.store.record(matching: twice.value[0].id) == twice.value[0])
  }

  @Test func `the message about an unknown URL hides its secrets`() throws {
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.store.record(matching: "https://me:pw@example.com/?token=abc")
    }
    #expect(error?.message.contains("pw") == false)
    #expect(error?.message.contains("abc") == false)
  }
}
