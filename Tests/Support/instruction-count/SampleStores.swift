import DownloadStore
import Foundation
import LMDB
import ObjectStore

/// The stores on which the operations run: the same bytes on every machine.
enum SampleStores {
  /// The number of downloads in the large store, on which most operations run.
  static let count = 10_000
  /// The number of waiting downloads in the large store, and of all in the small one.
  static let activeCount = 1_000
  /// The number of objects that an operation on a batch accesses.
  static let batch = 1_000

  static let firstDate = Date(timeIntervalSinceReferenceDate: 780_000_000)

  /// Opens the stores once, which checks the pages of a copy, so that later opens do not.
  static func open(in folder: String) throws {
    _ = try open("\(folder)/large")
    _ = try open("\(folder)/small")
  }

  static func large(in folder: String) throws -> RecordStore {
    try open("\(folder)/large")
  }

  private static func open(_ path: String) throws -> RecordStore {
    try RecordStore(at: path, now: { firstDate })
  }

  /// Creates the stores below an existing folder.
  ///
  /// - `large`: 9,000 finished downloads and 1,000 waiting ones, the newest.
  /// - `small`: 1,000 waiting downloads, for the tool.
  static func create(in folder: String) throws {
    let large = try openNew("\(folder)/large")
    try large.setRoot("\(folder)/large-files")
    let finished = count - activeCount
    for first in stride(from: 0, to: finished, by: batch) {
      try large.addNow((first..<first + batch).map(request))
    }
    try large.objects.write { tx in
      _ = try tx.update(DownloadRecord.where { $0.state == .waiting }) { record in
        record.state = .completed
        record.received = 1 << 20
        record.expected = 1 << 20
        record.completedAt = record.createdAt
      }
    }
    try large.addNow((finished..<count).map(request))

    let small = try openNew("\(folder)/small")
    try small.setRoot("\(folder)/small-files")
    try small.addNow((0..<activeCount).map(request))
  }

  /// Creates an empty store with a fixed hash seed.
  ///
  /// A store chooses its seed at random. The seed determines the order of the keys, and so the
  /// pages that an operation reads and writes.
  private static func openNew(_ path: String) throws -> RecordStore {
    _ = try open(path)
    do {
      let environment = try Environment.open(path)
      var transaction = try environment.beginWrite()
      let table = try transaction.createDatabase("store")
      let seed: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
      try transaction.put(seed.span, for: Array("seed".utf8).span, in: table)
      try transaction.commit()
    }
    return try open(path)
  }

  static func url(_ number: Int) -> String {
    let host = "mirror\(number % 50).example.com"
    let folder = "releases/2026/\(number / 1_000)"
    return "https://\(host)/\(folder)/package-\(number).tar.zst"
  }

  /// The request of a download; every tenth has the type `image`.
  static func request(_ number: Int) -> DownloadRequest {
    var request = DownloadRequest(url: url(number))
    request.type = number.isMultiple(of: 10) ? "image" : "archive"
    return request
  }
}
