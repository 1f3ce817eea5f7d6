import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

/// An embedded value as a later version may write it, with fields appended.
private protocol Later: FieldValue, Hashable {
  associatedtype Now: FieldValue
  var now: Now { get }
  init(now: Now)
}

extension Later {
  static var fieldType: FieldType { Now.fieldType }

  init(from reader: inout ByteReader) throws(RecordError) {
    self.init(now: try Now(from: &reader))
  }

  func encode(to writer: inout ByteWriter) {
    now.encode(to: &writer)
    writer.writeSized("what a later version knows")
    writer.write(UInt64.max)
  }
}

private struct LaterAttempt: Later {
  var now: Attempt
}

private struct LaterStamp: Later {
  var now: FileIdentity
}

private struct LaterField: Later {
  var now: HeaderField
}

/// A finished version from before its webhook had a mark of its own: without the last byte.
private struct EarlierVersion: FieldValue, Hashable {
  var now: FinishedVersion

  static var fieldType: FieldType { FinishedVersion.fieldType }

  init(now: FinishedVersion) { self.now = now }

  init(from reader: inout ByteReader) throws(RecordError) {
    now = try FinishedVersion(from: &reader)
  }

  func encode(to writer: inout ByteWriter) {
    var whole = ByteWriter()
    now.encode(to: &whole)
    for byte in whole.bytes.dropLast() { writer.write(byte) }
  }
}

/// Embedded values as fields and in lists.
private struct Box<A: FieldValue & Hashable, S: FieldValue & Hashable, F: FieldValue & Hashable>:
  Model, Hashable
{
  struct Columns {}
  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Box",
      fields: [
        FieldSchema("id", Int64.self, id: 1, isPrimaryKey: true),
        FieldSchema("attempts", [A].self, id: 2),
        FieldSchema("stamp", S.self, id: 3, isOptional: true),
        FieldSchema("fields", [F].self, id: 4),
      ]
    )
  }

  var id: Int64
  var attempts: [A]
  var fileIdentity: S?
  var fields: [F]
  var primaryKey: Int64 { id }

  init(id: Int64, attempts: [A], fileIdentity: S?, fields: [F]) {
    self.id = id
    self.attempts = attempts
    self.fileIdentity = fileIdentity
    self.fields = fields
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    attempts = try record.value(at: 1)
    fileIdentity = try record.optional(at: 2)
    fields = try record.value(at: 3)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(attempts)
    record.encode(fileIdentity)
    record.encode(fields)
  }
}

/// An attempt with a failure code that only a later version knows.
private struct StrangeAttempt: FieldValue, Hashable {
  static var fieldType: FieldType { Attempt.fieldType }
  var url: String

  init(url: String) {
    self.url = url
  }

  init(from reader: inout ByteReader) throws(RecordError) {
    url = ""
  }

  func encode(to writer: inout ByteWriter) {
    writer.writeSized(Date(timeIntervalSince1970: 0))
    writer.writeSized(url)
    writer.writeSized("boredom")
    writer.writeSized("it took too long")
    writer.writeSized(Int64(5))
    writer.writeSized("weather")
  }
}

@Suite struct EmbeddedValueTests {
  private typealias Now = Box<Attempt, FileIdentity, HeaderField>
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private let attempts = [
    Attempt(
      at: Date(timeIntervalSince1970: 5),
      url: "https://example.com/",
      failure: DownloadFailure(.timedOut, "slow", detail: .proxy),
      received: 7
    ),
    Attempt(
      at: Date(timeIntervalSince1970: 6),
      url: "",
      failure: DownloadFailure(.unknown, ""),
      received: 0
    ),
  ]
  private let fileIdentity = FileIdentity(size: 1, inode: 2, modified: 3)
  private let fields = [HeaderField(name: "a", value: "b"), HeaderField(name: "c", value: "")]

  @Test func `fields that a later version appended to a value are skipped`() throws {
    typealias Then = Box<LaterAttempt, LaterStamp, LaterField>
    let then = Then(
      id: 1,
      attempts: attempts.map(LaterAttempt.init(now:)),
      fileIdentity: LaterStamp(now: fileIdentity),
      fields: fields.map(LaterField.init(now:))
    )
    try Store(at: folder.path, models: [Then.self]).write { try $0.insert(then) }
    let now = try Store(at: folder.path, models: [Now.self]).read { try $0.find(Now.self, key: 1) }
    #expect(now == Now(id: 1, attempts: attempts, fileIdentity: fileIdentity, fields: fields))
  }

  @Test(arguments: [true, false])
  func `a finished version without the mark of a webhook is read, with that of its command`(
    awaitsHook: Bool
  ) throws {
    typealias Then = Box<Attempt, EarlierVersion, HeaderField>
    typealias Now = Box<Attempt, FinishedVersion, HeaderField>
    let version = FinishedVersion(
      entityTag: "\"1\"",
      completedAt: Date(timeIntervalSince1970: 5),
      hasPieceDigests: true,
      awaitsHook: awaitsHook
    )
    let then = Then(id: 1, attempts: [], fileIdentity: EarlierVersion(now: version), fields: [])
    try Store(at: folder.path, models: [Then.self]).write { try $0.insert(then) }
    let now = try Store(at: folder.path, models: [Now.self]).read { try $0.find(Now.self, key: 1) }
    #expect(now?.fileIdentity == version)
  }

  @Test func `an unknown failure code is read as unknown, with its message`() throws {
    typealias Then = Box<StrangeAttempt, FileIdentity, HeaderField>
    let then = Then(id: 1, attempts: [StrangeAttempt(url: "u")], fileIdentity: nil, fields: [])
    try Store(at: folder.path, models: [Then.self]).write { try $0.insert(then) }
    let now = try Store(at: folder.path, models: [Now.self]).read { try $0.find(Now.self, key: 1) }
    #expect(
      now?.attempts == [
        Attempt(
          at: Date(timeIntervalSince1970: 0),
          url: "u",
          failure: DownloadFailure(.unknown, "it took too long"),
          received: 5
        )
      ]
    )
  }

  @Test func `the encoded bytes of each value never change`() {
    func bytes(_ value: some FieldValue) -> String {
      var writer = ByteWriter()
      value.encode(to: &writer)
      return writer.bytes.map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }
      .joined()
    }
    #expect(bytes(fileIdentity) == "010000000000000002000000000000000300000000000000")
    #expect(bytes(HeaderField(name: "ab", value: "c")) == "02000000616201000000" + "63")
    let attempt = Attempt(
      at: Date(timeIntervalSinceReferenceDate: 1),
      url: "u",
      failure: DownloadFailure(.timedOut, "m"),
      received: 258
    )
    #expect(
      bytes(attempt) == "000000000000f03f" + "0100000075" + "0800000074696d65644f7574"
        + "010000006d" + "0201000000000000" + "00000000"
    )
  }
}
