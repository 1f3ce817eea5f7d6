internal import DownloadStore
internal import Foundation
internal import ObjectStore
internal import SystemInterface
internal import TestSupport

/// A fuzzer of the import of download records.
///
/// The first byte of an input selects whether the store exists, and what happens to known records.
/// The lines follow.
public struct RecordImportFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "record-import"

  /// The description for `--help`.
  public static let summary = "Imports mutated exports of download records."

  private var mutator: JSONLinesMutator
  private let folder: TemporaryFolder

  /// Creates a fuzzer whose mutations are determined by a seed.
  ///
  /// - Throws: A system error if no temporary folder can be created, or ``StoreError``.
  public init(seed: UInt64) throws {
    folder = try TemporaryFolder(inMemory: true)
    let store = try RecordStore(at: folder.path("samples"))
    try Self.addSamples(to: store)
    mutator = try JSONLinesMutator(seed: seed, samples: store.objects)
  }

  private static func addSamples(to store: RecordStore) throws {
    var requests = (1...4).map { DownloadRequest(url: "http://h/\($0)/a.bin") }
    requests[0].headers = [HeaderField(name: "X-A", value: "1")]
    requests[1].mirrors = ["http://m/a.bin"]
    requests[1].digest = try Digest("md5:9e107d9d372bb6826bd81d3542a419d6")
    requests[2].root = try store.root(at: "/mnt/disk")
    requests[2].folder = "new"
    requests[3].isPaused = true
    requests[3].pieces = RequiredPieces(
      byteCount: 10,
      pieceLength: 5,
      digests: [
        try Digest("md5:9e107d9d372bb6826bd81d3542a419d6"),
        try Digest("md5:00107d9d372bb6826bd81d3542a419d6"),
      ]
    )
    try store.addNow(requests)
  }

  /// Mutates lines, values or bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Imports the lines and checks the resulting records.
  ///
  /// - The import succeeds, or fails with a documented code.
  /// - The store opens, every record is one that a command could have stored, and no two have the same
  ///   id or destination.
  /// - No number of a record overflows in a transition or in the digests of pieces.
  ///
  /// - Throws: ``FuzzViolation``, or an error of opening or reading the result.
  public func check(_ input: [UInt8]) throws -> String {
    let choice = Int(input.first ?? 0)
    let path = folder.path("store")
    let file = folder.path("lines")
    defer {
      for item in [path, file] { try? FileManager.default.removeItem(atPath: item) }
    }
    if choice & 1 != 0 { try Self.addSamples(to: RecordStore(at: path)) }
    try Data(input.dropFirst()).write(to: URL(filePath: file))
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FuzzViolation("the lines cannot be opened") }
    defer { close(descriptor) }
    let replaces = choice & 2 != 0
    let review = DownloadImport(
      intoStoreAt: choice & 1 == 0 ? nil : path,
      known: replaces ? .replace : .keep,
      acceptsHiddenFolders: choice & 4 != 0
    )
    let outcome: String
    do {
      let report = try Store.importJSONLines(
        from: descriptor,
        named: "lines",
        intoStoreAt: path,
        options: ImportOptions(conflict: replaces ? .replace : .skip),
        review: review
      )
      outcome = "imported \(report.inserted) \(report.updated) \(report.skipped)"
    } catch let error as StoreError {
      let reason = (error.cause as? JSONLinesError)?.reason ?? ""
      outcome = "\(error.code) " + reason.split(separator: " ").prefix(6).joined(separator: " ")
    }
    guard Store.exists(at: path) else { return outcome }
    do {
      try checkRecords(at: path, acceptsHiddenFolders: choice & 4 != 0)
    } catch let error as StoreError where error.code == .schemaMismatch || error.code == .tooNew {
      // The first line described other models under our names.
      return outcome + ", not a store of downloads"
    }
    return outcome
  }

  private func checkRecords(at path: String, acceptsHiddenFolders: Bool) throws {
    let store = try RecordStore(at: path)
    let records = try store.records()
    for record in records {
      do {
        try record.validate(acceptsHiddenFolder: acceptsHiddenFolders)
      } catch {
        throw FuzzViolation("an invalid record was stored: \(error)")
      }
      RecordWalk.run(record)
    }
    guard Set(records.map(\.id)).count == records.count else {
      throw FuzzViolation("two records have one id")
    }
    guard Set(records.map { StoredText($0.destination) }).count == records.count else {
      throw FuzzViolation("two records have one destination")
    }
    for pieces in try store.objects.read({ tx in try tx.fetch(PieceDigests.all) }) {
      RecordWalk.run(pieces)
    }
    _ = try store.verifyFiles()
  }
}
