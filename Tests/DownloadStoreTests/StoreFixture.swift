import DownloadStore
import Foundation
import ObjectStore
import SystemInterface
import TestSupport

/// A store in its own folder, with a clock that the test sets.
final class StoreFixture: Sendable {
  let folder: TemporaryFolder
  let store: RecordStore
  private let clock: Clock

  private final class Clock: Sendable {
    let now = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
  }

  init() throws {
    folder = try TemporaryFolder()
    let clock = Clock()
    self.clock = clock
    store = try RecordStore(at: "\(folder.path)/store", now: { clock.now.withLock { $0 } })
  }

  /// The store's current time.
  var now: Date {
    get { clock.now.withLock { $0 } }
    set { clock.now.withLock { $0 = newValue } }
  }

  /// The folder of the standard root, below ``folder``.
  static let files = "store/files"

  @discardableResult
  func add(
    _ url: String,
    _ change: (inout DownloadRequest) -> Void = { _ in }
  ) throws -> RecordStore.Added {
    var request = DownloadRequest(url: url)
    change(&request)
    return try store.addNow([request])[0]
  }

  /// Changes a record as an engine would, and returns it.
  @discardableResult
  func change(
    _ url: String,
    _ body: (inout DownloadRecord) -> Void
  ) throws -> DownloadRecord {
    try store.objects.write { tx in _ = try tx.update(DownloadRecord.self, key: url, body) }
    return try store.record(matching: url)
  }

  func layout(of record: DownloadRecord) throws -> FileLayout {
    try store.roots().layout(of: record)
  }

  /// Creates the finished file, and stores its identity in the record.
  @discardableResult
  func finish(_ url: String, _ text: String = "body") throws -> DownloadRecord {
    let path = try layout(of: store.record(matching: url)).finalPath
    try write(text, to: path)
    return try change(url) { record in
      record.state = .completed
      record.received = Int64(text.utf8.count)
      record.expected = Int64(text.utf8.count)
      record.completedAt = now
      record.fileIdentity = FileIdentity(ofFileAt: path)
    }
  }

  /// Creates a file and its folder.
  func write(_ text: String, to path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(text.utf8).write(to: url)
  }
}

/// Sets a file's modification time.
func setModified(_ path: String, _ date: Date) throws {
  try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
}
