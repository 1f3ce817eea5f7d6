import Foundation
import ObjectStore
import TestTraits
import Testing

@testable import DownloadStore

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

  @Test func `the file names of all records are compared once for many names`() throws {
    let record = try fixture.add(url).record
    let names = ["a.zip", "late.zip", "none", record.id, "a.zip"]
    let second = "https://example.com/late.zip"
    let found = try fixture.store.objects.write { tx in
      var filenames = FilenameScan(for: names)
      let first = try tx.record(matching: names[0], &filenames)
      var late = record
      (late.url, late.id, late.filename) = (second, "0000000000000000", "late.zip")
      try tx.insert(late)
      return try [first] + names.dropFirst().map { try tx.record(matching: $0, &filenames) }
    }
    // The second record was inserted after the file names were compared.
    #expect(found.map { (try? $0.get())?.url } == [url, nil, nil, url, url])
    let next = try fixture.store.records(matching: names)
    #expect(next.map { (try? $0.get())?.url } == [url, second, nil, url, url])
  }

  @Test func `a command finds a download that is named twice, also after its removal`() throws {
    try fixture.add(url)
    let names = ["a.zip", "b.zip", "a.zip"]
    let outcomes = try fixture.store.apply(.remove(withFile: false), to: .named(names))
    #expect(outcomes.map(\.isDone) == [true, false, false])
    #expect(outcomes.map { $0.record?.url } == [url, nil, url])
    let later = try fixture.store.apply(.remove(withFile: false), to: .named(names))
    #expect(later.map { $0.record?.url } == [nil, nil, nil])
  }

  @Test(arguments: [1, 2])
  func `a file name of several downloads is ambiguous, alone and among others`(count: Int) throws {
    for host in 0..<6 {
      try fixture.add("https://h\(host).example/a.zip") { $0.folder = "\(host)" }
    }
    let names = Array(["a.zip", "none"].prefix(count))
    let errors = try fixture.store.records(matching: names).map { result in
      #expect(throws: RecordStoreError.self) { try result.get() }
    }
    #expect(errors[0]?.code == .ambiguousID)
    #expect(errors[0]?.message.hasSuffix(", …") == true)
    #expect(count == 1 || errors[1]?.code == .unknownRecord)
  }

  @Test func `the message about an unknown URL hides its secrets`() throws {
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.store.record(matching: "https://me:pw@example.com/?token=abc")
    }
    #expect(error?.message.contains("pw") == false)
    #expect(error?.message.contains("abc") == false)
  }
}
