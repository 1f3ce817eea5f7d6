import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What `add` and `set` store, `import` accepts.
struct AcceptedRecordsTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private let url = "http://h/a.bin"

  /// A digest of a piece.
  private static let digest = DigestHasher(.md5).digest

  /// A request with random values, one of which may be at or beyond a limit.
  private static func request(
    _ number: Int,
    _ random: inout some RandomNumberGenerator
  ) -> DownloadRequest {
    func any<T>(_ values: T...) -> T { values[Int.random(in: values.indices, using: &random)] }
    var request = DownloadRequest(
      url: "http://h/\(number)" + any("", "?a=%20", "#x", "/é.bin", "/")
    )
    request.filename = any(nil, "a\u{202E}b", " . ", "a/../b", String(repeating: "é", count: 200))
    request.priority = any(0, .min, .max)
    request.tags = any([], ["", "a b", "\u{7}"])
    request.isPaused = any(true, false)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: request.folder = any("a/b", ".hidden", "a//b/", "a\nb", "../a")
    case 1: request.type = any("x", "ä\u{0}", "")
    case 2: request.mirrors = any(["http://m/"], ["ftp://m/"])
    case 3: request.bytesPerSecond = any(0, -1, 1, .max)
    case 4: request.connections = any(0, .min, 1, .max)
    case 5:
      request.notBefore = any(
        .distantPast,
        .distantFuture,
        Date(timeIntervalSince1970: 253_402_300_799),
        Date(timeIntervalSince1970: 253_402_300_801),
        Date(timeIntervalSince1970: -62_135_769_601),
        Date(timeIntervalSince1970: .nan),
        Date(timeIntervalSince1970: .infinity)
      )
    case 6: request.root = any("", "a\nb")
    case 7: request.byteCount = any(4, 0, -1, 1 << 60, .max)
    case 8:
      let digests = [Digest](repeating: digest, count: any(0, 1, 2))
      request.pieces = RequiredPieces(
        byteCount: any(10, 0, 1 << 60, .max),
        pieceLength: any(5, 10, 0, 1 << 60, .max),
        digests: digests
      )
    default:
      request.headers = any(
        [HeaderField(name: "X-A", value: "b")],
        [HeaderField(name: "a b", value: "")],
        [HeaderField(name: "Range", value: "bytes=1-")]
      )
    }
    return request
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `an import accepts the export of every record that add accepts`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let source = folder.path("source-\(seed)")
    let adding = try RecordStore(at: source)
    var count = 0
    for number in 0..<300 where (try? adding.addNow([Self.request(number, &random)])) != nil {
      count += 1
    }
    try #require(count > 10)
    let exported = await dlstore("--store", source, "export")
    let file = try folder.makeFile("export-\(seed)", exported.output)
    let result = await dlstore("--store", store, "import", "--hidden-folders", file)
    #expect(result.status == .done, "\(result.messages)")
    #expect(try RecordStore(at: store).records().count == count)
  }

  @Test func `an import accepts a download of which only the size is required`() async throws {
    let source = folder.path("source")
    var request = DownloadRequest(url: url)
    request.byteCount = 4
    try await RecordStore(at: source).add([request])
    let exported = await dlstore("--store", source, "export")
    let file = try folder.makeFile("size.jsonl", exported.output)
    for path in [source, store] {
      let result = await dlstore("--store", path, "import", file)
      #expect(result.status == .done, "\(result.messages)")
      let pieces = try await RecordStore(at: path).objects.read { tx in
        try tx.fetch(PieceDigests.all)
      }
      #expect(pieces.map(\.byteCount) == [4] && pieces.first?.isRequired == true)
    }
  }

  @Test func `a date that no import accepts is not stored`() async throws {
    let store = try RecordStore(at: store)
    try await store.add([DownloadRequest(url: url)])
    for date in [Date.distantFuture + 1e12, Date(timeIntervalSince1970: .nan)] {
      var update = RecordUpdate()
      update.notBefore = date
      await #expect(throws: RecordStoreError.self) {
        try await store.update(matching: url, with: update)
      }
    }
    var update = RecordUpdate()
    update.connections = 0
    await #expect(throws: RecordStoreError.self) {
      try await store.update(matching: url, with: update)
    }
    #expect(
      await dlstore("--store", self.store, "set", url, "--not-before", "99999-01-01").status
        == .usage
    )
  }
}
