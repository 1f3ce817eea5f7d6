import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

// Values that no command stores.

extension RecordImportTests {
  // MARK: Values that no command stores

  static let refused: [(field: String, value: String)] = [
    ("url", "ftp://h/a.bin"), ("url", "http://h/a\n gid=1"), ("url", "http:///a"),
    ("mirrors", "[\"http://h/\\u000ab\"]"), ("mirrors", "[\"file:///etc/passwd\"]"),
    ("folder", "../x"), ("folder", "/etc"), ("folder", "a/../../b"), ("folder", ".ssh"),
    ("folder", "a/.config/b"), ("folder", "a//b"), ("folder", "a\u{0}b"),
    ("filename", "../x"), ("filename", "a/b"), ("filename", ".bashrc"), ("filename", ".."),
    ("filename", ""), ("filename", "0123456789abcdef.dlstore-part"), ("filename", "a\nb"),
    ("id", "../../etc/passwd"), ("id", "0123456789ABCDEF"), ("id", ""),
    ("destination", "default/other.bin"), ("root", ""),
    ("received", "-1"), ("received", "9223372036854775807"),
    ("expected", "-1"), ("expected", "9223372036854775807"),
    ("resolvedBytes", "-9223372036854775808"), ("generation", "9223372036854775807"),
    ("generation", "-1"), ("failedAttempts", "-1"), ("failedAttempts", "2147483647"),
    ("unresolvedStarts", "2147483647"), ("bytesPerSecond", "0"), ("bytesPerSecond", "-5"),
    ("connections", "0"), ("notBefore", "\"inf\""), ("nextRetryAt", "1e300"),
    ("createdAt", "\"nan:7ff8000000000000\""), ("expectedDigest", "sha256:aa"),
    ("expectedDigest", "MD5:9E107D9D372BB6826BD81D3542A419D6"), ("verifiedDigest", "x"),
    ("entityTag", "\"1\"\r\nX-Evil: 1"), ("lastModified", "a\nb"), ("ranges", "AQI="),
  ]

  @Test(arguments: refused) func `a record that no command stores is refused`(
    field: String,
    value: String
  ) async throws {
    let text: Any
    let json = try? JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
    switch json {
    case let number as NSNumber where !value.hasPrefix("\""): text = number
    case let list as [String]: text = list
    case let string as String where field == "notBefore" || field == "createdAt": text = string
    default: text = value
    }
    var changes = [field: text]
    // Its destination fits, so that only the field is wrong.
    if field == "filename" { changes["destination"] = "default/\(value)" }
    if field == "folder" { changes["destination"] = "default/\(value)/a.bin" }
    if field == "root" { changes["destination"] = "\(value)/a.bin" }
    let file = try await export(setting: changes)
    let created = await importing(file)
    #expect(created.status == .damaged, "\(created.messages)")
    #expect(created.messages.contains("line 2"))
    #expect(!FileManager.default.fileExists(atPath: store))
    _ = try RecordStore(at: store)
    #expect(await importing(file).status == .damaged)
    #expect(try records().isEmpty)
  }

  @Test func `a record that only an engine can have is as that engine would leave it`()
    async throws
  {
    let file = try await export(setting: [
      "state": "running", "received": 777, "unresolvedStarts": 1, "pendingHooks": ["complete"],
      "removesFile": true, "resumeData": "AAAA",
    ])
    #expect(await importing(file).status == .done)
    let imported = try record(url)
    #expect(imported.state == .waiting && imported.received == 0 && imported.unresolvedStarts == 0)
    #expect(imported.pendingHooks == [] && !imported.removesFile && imported.resumeData == nil)
  }

  @Test(arguments: ["paused", "waiting", "failedRetryable"]) func `a new store counts no bytes`(
    state: String
  ) async throws {
    let file = try await export(setting: [
      "state": state, "received": 25, "resolvedBytes": 25, "expected": 100, "entityTag": "\"1\"",
    ])
    #expect(await importing(file).status == .done)
    let imported = try record(url)
    #expect(imported.received == 0 && imported.resolvedBytes == 0 && imported.expected == nil)
    #expect(imported.entityTag == nil)
    #expect(await dlstore("--store", store, "verify").status == .done)
  }

  @Test(arguments: ["completedAt", "fileIdentity"])
  func `a complete record without its time or its file is refused`(missing: String) async throws {
    let identity = Data([5, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 1, count: 16))
    var values: [String: Any] = [
      "state": "completed", "received": 5, "expected": 5, "completedAt": 700_000_000,
      "fileIdentity": identity.base64EncodedString(),
    ]
    #expect(await importing(try await export(setting: values)).status == .done)
    values[missing] = NSNull()
    let other = folder.path("other")
    let result = await dlstore("--store", other, "import", try await export(setting: values))
    #expect(result.status == .damaged && result.messages.contains("it is complete"))
  }

  @Test(arguments: ["finalizing", "running"]) func `a paused transfer stays paused`(
    state: String
  ) async throws {
    let file = try await export(setting: ["state": state, "intent": "pause", "received": 5])
    #expect(await importing(file).status == .done)
    #expect(try record(url).state == .paused)
  }

  @Test(arguments: [("removed", "remove"), ("removed", "run"), ("running", "remove")])
  func `a record that its user has removed is left out`(
    state: String,
    intent: String
  ) async throws {
    let file = try await export(setting: ["state": state, "intent": intent])
    #expect(await importing(file).status == .done)
    let store = try RecordStore(at: store)
    #expect(try await store.objects.read { tx in try tx.count(DownloadRecord.all) } == 0)
  }

  @Test(arguments: [
    ("paused", "run", "paused", "pause"), ("failedRetryable", "pause", "paused", "pause"),
    ("running", "cancel", "waiting", "cancel"), ("cancelled", "run", "cancelled", "cancel"),
  ])
  func `an imported record has an intent that fits its state`(
    state: String,
    intent: String,
    newState: String,
    newIntent: String
  ) async throws {
    let file = try await export(setting: ["state": state, "intent": intent])
    #expect(await importing(file).status == .done)
    let imported = try record(url)
    #expect(imported.state.rawValue == newState && imported.intent.rawValue == newIntent)
  }

  @Test func `a complete record that contradicts its file is refused`() async throws {
    let identity = Data([5, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 1, count: 16))
    let file = try await export(setting: [
      "state": "completed", "received": 6, "expected": 5,
      "fileIdentity": identity.base64EncodedString(),
    ])
    #expect(await importing(file).status == .damaged)
  }

  @Test(arguments: [
    ("X-A", "1\r\nX-B: 2"), ("X A", "1"), ("", "1"), ("Range", "bytes=5-"), ("X-A", "\u{0}"),
  ])
  func `a header field that cannot be sent is refused`(name: String, value: String) async throws {
    var request = DownloadRequest(url: url)
    request.headers = [HeaderField(name: "X-Old", value: "old")]
    func sized(_ text: String) -> [UInt8] {
      let count = text.utf8.count
      return [UInt8(count & 0xFF), UInt8(count >> 8), 0, 0] + Array(text.utf8)
    }
    let field = Data(sized(name) + sized(value)).base64EncodedString()
    let file = try await export([request]) { model, fields in
      if model == "RequestHeaders" { fields["fields"] = [field] }
    }
    let result = await importing(file)
    #expect(result.status == .damaged, "\(result.messages)")
    #expect(!FileManager.default.fileExists(atPath: store))
  }
}
