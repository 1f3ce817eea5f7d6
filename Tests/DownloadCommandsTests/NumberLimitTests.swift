import CommandTestSupport
import DownloadStore
import Foundation
import Fuzzing
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Every number of every stored model at its extremes, and the code that computes with it.
///
/// The fields come from the schemas, so a new field is covered. An overflow ends the process.
@Suite(.timeLimit(.minutes(10)))
struct NumberLimitTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  /// The extreme values of a type; empty if it has no numbers.
  private static func extremes(of type: FieldType) -> [StoredValue] {
    switch type {
    case .signed(let bits):
      let largest = Int64.max >> Int64(64 - bits)
      return [largest, largest - 1, -largest - 1, -1, 0, 1, 1 << 30].map { .signed($0) }
    case .unsigned(let bits): return [.unsigned(UInt64.max >> UInt64(64 - bits)), .unsigned(0)]
    case .double, .date:
      let numbers = [Double.infinity, -.infinity, .nan, 1e300, -1e300, 1e18, 0]
      return numbers.map {
        type == .double ? .double($0) : .date(Date(timeIntervalSinceReferenceDate: $0))
      }
    case .embedded:
      return [0x00, 0x7F, 0x80, 0xFF].map { .embedded(Data(repeating: $0, count: 24)) }
    case .data:
      return [0x7F, 0xFF].map { .data(Data(repeating: $0, count: 18)) }
    default: return []
    }
  }

  private struct Change: Sendable {
    var field: StoredObject.Field
    var state: DownloadState
  }

  /// The changes of one field that a record can have.
  private static func changes(_ states: [DownloadState]) -> [Change] {
    DownloadRecord.schema.fields.flatMap { field in
      extremes(of: field.type).flatMap { value in
        states.map { state in
          let field = StoredObject.Field(
            id: field.id,
            name: field.name,
            type: field.type,
            value: value
          )
          return Change(field: field, state: state)
        }
      }
    }
  }

  /// Stores a record for each change, without the rules of `import`, and returns their number.
  private func fill(
    _ states: [DownloadState] = [.waiting, .running, .paused, .completed, .failedRetryable]
  ) throws -> Int {
    let opened = try RecordStore(at: store)
    let changes = Self.changes(states)
    try opened.addNow(changes.indices.map { DownloadRequest(url: "http://127.0.0.1:1/\($0)") })
    try opened.objects.write { tx in
      for (number, change) in changes.enumerated() {
        let url = "http://127.0.0.1:1/\(number)"
        guard var record = try tx.find(DownloadRecord.self, key: url) else { continue }
        record.state = change.state
        if change.state == .paused { record.intent = .pause }
        record.received = 5
        record.expected = 9
        try tx.upsert(record)
      }
    }
    var objects: [StoredObject] = []
    try opened.objects.forEachStoredObject(of: DownloadRecord.schema.name) { object in
      objects.append(object)
      return true
    }
    let coder = StoredObjectCoder<DownloadRecord>()
    var changed: [StoredObject] = []
    for var object in objects {
      guard case .string(let url)? = object["url"],
        let number = Int(url.split(separator: "/").last ?? "")
      else { continue }
      let change = changes[number].field
      object.fields.removeAll { $0.id == change.id }
      object.fields.append(change)
      // A value that cannot be decoded is damage, which is another matter.
      guard (try? coder.decode(object)) != nil else { continue }
      changed.append(object)
    }
    var rest = changed.enumerated().makeIterator()
    _ = try opened.objects.importObjects(
      numberedBy: .object,
      options: ImportOptions(conflict: .replace)
    ) {
      rest.next().map { ($0.element, $0.offset + 1) }
    }
    return changed.count
  }

  private func storedPieces() throws -> [PieceDigests] {
    try RecordStore(at: store).objects.read { tx in try tx.fetch(PieceDigests.all) }
  }

  @Test func `no number of a record overflows in a transition`() throws {
    let count = try fill()
    #expect(count > 100)
    for record in try RecordStore(at: store).records() { RecordWalk.run(record) }
  }

  @Test func `no number of a record ends a command`() async throws {
    _ = try fill([.running, .completed])
    let commands: [[String]] = [
      ["list"], ["list", "--format", "json"], ["list", "--format", "csv"], ["stats"],
      ["stats", "--json"], ["verify"], ["verify", "--json"], ["reconcile"], ["export"],
      ["export", "--format", "aria2"], ["inspect", "http://127.0.0.1:1/3"],
      ["verify-file", "http://127.0.0.1:1/3"],
    ]
    for command in commands {
      // A command may fail; a trap would end this process.
      _ = await dlstore(["--store", store] + command)
    }
  }

  @Test func `no number of the digests of pieces overflows`() throws {
    let digest = try Digest("md5:9e107d9d372bb6826bd81d3542a419d6")
    let base = try #require(
      PieceDigests(
        requiring: RequiredPieces(byteCount: 10, pieceLength: 5, digests: [digest, digest]),
        recordID: "0123456789abcdef"
      )
    )
    let numbers: [Int64] = [.max, .max - 1, 1 << 62, 1 << 60, 1, 0, -1, .min]
    for byteCount in numbers {
      for pieceLength in numbers {
        for algorithm in ["md5", "sha512", "xxh64", "none"] {
          for count in [0, 8, 16, 32, 64] {
            var pieces = base
            pieces.byteCount = byteCount
            pieces.pieceLength = pieceLength
            pieces.algorithm = algorithm
            pieces.digests = Data(repeating: 1, count: count)
            RecordWalk.run(pieces)
            _ = PieceDigests(
              recordingFileOf: byteCount,
              inPiecesFrom: pieceLength,
              recordID: "0123456789abcdef"
            )
          }
        }
      }
    }
  }

  private static let texts = [
    "9223372036854775807", "9223372036854775806", "9223372036854775808", "4611686018427387904",
    "1152921504606846976", "1152921504606846977", "-9223372036854775808", "-1", "0", "1", "1e30",
    "18446744073709551616", "00000000000000000000001", "", "+5",
  ]

  @Test(arguments: texts, texts)
  func `no number of a Metalink document overflows`(size: String, length: String) async throws {
    let digest = String(repeating: "0", count: 40)
    let document = """
      <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a"><size>\(size)</size>
      <pieces type="sha-1" length="\(length)"><hash>\(digest)</hash></pieces>
      <url priority="\(size)">http://127.0.0.1:1/a</url></file></metalink>
      """
    let path = try folder.makeFile("a.meta4", document)
    let result = await dlstore("--store", store, "add", "--metalink", path)
    #expect(result.status == .done || result.status == .failed, "\(result.messages)")
    guard result.status == .done else { return }
    for pieces in try storedPieces() {
      RecordWalk.run(pieces)
    }
  }

  @Test(
    arguments: [
      "--priority", "--limit-rate-per-download", "--connections-per-download", "--not-before",
    ],
    texts
  )
  func `no number of an option overflows`(option: String, value: String) async throws {
    // A value may be refused.
    _ = await dlstore("--store", store, "add", "http://127.0.0.1:1/a", option, value)
    _ = await dlstore("--store", store, "list")
  }

  @Test func `no number of an aria2 control file overflows`() throws {
    let numbers: [[UInt8]] = [
      [0, 0, 0, 0], [0, 0, 0, 1], [0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0],
      [0xFF, 0xFF, 0xFF, 0xFF],
    ]
    for pieceLength in numbers {
      for high in numbers {
        for low in numbers {
          for count in numbers {
            let bytes: [UInt8] =
              [0, 1, 0, 0, 0, 0, 0, 0, 0, 0] + pieceLength + high + low + high + low
              + [0, 0, 0, 1, 0x80] + count + count + pieceLength + [0, 0, 0, 1, 0xFF]
            _ = try? Aria2ControlFile(bytes)
          }
        }
      }
    }
  }
}
