internal import Crypto
internal import Foundation

/// What identifies the bytes of a store's file.
struct DataFileDigest: Equatable {
  /// The bytes that contain both meta pages, whatever the size of a page.
  private let start: [UInt8]
  /// The SHA-256 of all others.
  private let rest: [UInt8]

  private static let startSize = 1 << 16
  private static let chunkSize = 1 << 20
  /// The number with which the data of a meta page begins.
  private static let magic: [UInt8] = [0xDE, 0xC0, 0xEF, 0xBE]

  /// - Throws: ``MigrationTestFailure`` if the store has no file; an error of the file system.
  init(ofStoreAt path: String) throws {
    guard let file = FileHandle(forReadingAtPath: path + "/data.mdb") else {
      throw MigrationTestFailure("\(path) has no file")
    }
    defer { try? file.close() }
    start = Array(try file.read(upToCount: Self.startSize) ?? Data())
    var hash = SHA256()
    while let bytes = try file.read(upToCount: Self.chunkSize), !bytes.isEmpty {
      hash.update(data: bytes)
    }
    rest = Array(hash.finalize())
  }

  /// Whether the file is an earlier one but for the number of its last commit.
  ///
  /// The number is one aligned integer of 8 bytes in a meta page.
  func isRestored(_ earlier: DataFileDigest) -> Bool {
    guard rest == earlier.rest, start.count == earlier.start.count else { return false }
    let changed = start.indices.filter { start[$0] != earlier.start[$0] }
    guard let first = changed.first, let last = changed.last else { return true }
    guard first / 8 == last / 8 else { return false }
    let page = first / 4_096 * 4_096
    let header = start[page..<min(page + 32, start.count)]
    return first - page < 256
      && header.indices.contains { header[$0...].starts(with: Self.magic) }
  }
}
