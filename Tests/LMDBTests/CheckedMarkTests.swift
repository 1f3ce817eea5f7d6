import Foundation
import LMDB
import SystemInterface
import TestSupport
import Testing

/// Tests which files `Environment.open` checks page by page.
@Suite struct CheckedMarkTests {
  private static let pageSize = 4_096

  let folder: TemporaryFolder

  /// Creates a file of a few dozen pages.
  init() throws {
    folder = try TemporaryFolder()
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    try environment.write { transaction in
      for key in 0..<500 { try transaction.put("value \(key)", for: "key \(key)", in: database) }
    }
  }

  private var file: String { folder.path + "/data.mdb" }

  /// Overwrites a page as a failing disk would, without a change of the modification time.
  private func damageSilently() throws {
    let time = try FileTime(of: file)
    try damage()
    try time.set(file)
  }

  /// Fills the root page of the main database of the last commit with zeros.
  private func damage() throws {
    let bytes = try Data(contentsOf: URL(filePath: file))
    func number(_ offset: Int) -> UInt64 {
      bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    let meta = number(144) > number(Self.pageSize + 144) ? 0 : Self.pageSize
    let handle = try FileHandle(forUpdating: URL(filePath: file))
    try handle.seek(toOffset: number(meta + 88 + 40) * UInt64(Self.pageSize))
    try handle.write(contentsOf: Data(count: Self.pageSize))
    try handle.close()
  }

  private func write(_ sync: CommitSync) throws {
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    var transaction = try environment.beginWrite()
    try transaction.put("\(sync)", for: "last", in: database)
    try transaction.commit(sync)
  }

  @Test(arguments: CommitSync.allCases)
  func `opening a file that only commits have changed skips the check`(sync: CommitSync) throws {
    try write(sync)
    try damageSilently()
    _ = try Environment.open(folder.path)
  }

  @Test func `checksPages finds a page that changed without a new modification time`() throws {
    try damageSilently()
    let error = #expect(throws: LMDBError.self) {
      try Environment.open(folder.path, options: EnvironmentOptions(checksPages: true))
    }
    #expect(error?.isCorruption == true)
  }

  @Test(arguments: [false, true])
  func `opening a file with an unknown modification time checks every page`(isReadOnly: Bool) throws
  {
    try damage()
    let error = #expect(throws: LMDBError.self) {
      try Environment.open(folder.path, options: EnvironmentOptions(isReadOnly: isReadOnly))
    }
    #expect(error?.code == .corrupted)
  }

  @Test func `opening a copy with the modification time of the original checks every page`() throws
  {
    try damageSilently()
    let time = try FileTime(of: file)
    let copy = file + ".copy"
    try FileManager.default.copyItem(atPath: file, toPath: copy)
    // Keeps the inode of the old file in use, so that the copy gets another one.
    let old = try FileHandle(forReadingFrom: URL(filePath: file))
    defer { try? old.close() }
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: copy, toPath: file)
    try time.set(file)
    #expect(throws: LMDBError.self) { try Environment.open(folder.path) }
  }

  @Test func `a file that passed the check is not checked again by the next open`() throws {
    let bytes = try Data(contentsOf: URL(filePath: file))
    try bytes.write(to: URL(filePath: file))
    do { _ = try Environment.open(folder.path) }
    try damageSilently()
    _ = try Environment.open(folder.path)
  }

  @Test(arguments: [false, true])
  func `opening a compacted file skips the check`(isEmpty: Bool) throws {
    if isEmpty {
      let environment = try Environment.open(folder.path)
      let database = try environment.database("strings")
      try environment.write { transaction in try transaction.removeAll(in: database) }
    }
    try Environment.compact(folder.path)
    try damageSilently()
    _ = try Environment.open(folder.path, options: EnvironmentOptions(isReadOnly: true))
    _ = try Environment.open(folder.path)
  }

  @Test func `compacting checks every page of a file with an unknown modification time`() throws {
    try damage()
    let error = #expect(throws: LMDBError.self) { try Environment.compact(folder.path) }
    #expect(error?.code == .corrupted)
  }

  @Test func `a read-only open does not mark the file as checked`() throws {
    let bytes = try Data(contentsOf: URL(filePath: file))
    try bytes.write(to: URL(filePath: file))
    let time = try FileTime(of: file)
    do { _ = try Environment.open(folder.path, options: EnvironmentOptions(isReadOnly: true)) }
    #expect(try FileTime(of: file) == time)
  }

  @Test func `a commit sets a modification time close to the current time`() throws {
    let start = Date().timeIntervalSince1970
    try write(.full)
    let end = Date().timeIntervalSince1970
    let time = try FileTime(of: file)
    #expect(time.seconds > start - 0.01)
    #expect(time.seconds < end + 1)
  }
}

/// The modification time of a file.
struct FileTime: Equatable {
  private var wholeSeconds: Int
  private var nanoseconds: Int

  init(of file: String) throws {
    var status = stat()
    guard unsafe stat(file, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
    let time = status.modificationTime
    wholeSeconds = Int(time.tv_sec)
    nanoseconds = Int(time.tv_nsec)
  }

  var seconds: Double { Double(wholeSeconds) + Double(nanoseconds) / 1e9 }

  func set(_ file: String) throws {
    let time = timespec(tv_sec: time_t(wholeSeconds), tv_nsec: nanoseconds)
    guard unsafe utimensat(AT_FDCWD, file, [time, time], 0) == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
  }
}
