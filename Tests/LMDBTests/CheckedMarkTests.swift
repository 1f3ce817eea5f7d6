import Foundation
import LMDB
import TestSupport
import Testing

/// Which files are checked when they are opened.
@Suite struct CheckedMarkTests {
  private static let pageSize = 4_096

  let folder: TemporaryFolder

  /// A file of some tens of pages.
  init() throws {
    folder = try TemporaryFolder()
    let environment = try Environment.open(folder.path)
    let database = try environment.database("texts")
    try environment.write { transaction in
      for key in 0..<500 { try transaction.put("value \(key)", for: "key \(key)", in: database) }
    }
  }

  private var file: String { folder.path + "/data.mdb" }

  /// Fills the root of the last commit's main database with zeros, as a disk does: the modification
  /// time stays.
  private func damageSilently() throws {
    let time = try FileTime(of: file)
    try damage()
    try time.set(file)
  }

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
    let database = try environment.database("texts")
    var transaction = try environment.beginWrite()
    try transaction.put("\(sync)", for: "last", in: database)
    try transaction.commit(sync)
  }

  @Test(arguments: CommitSync.allCases)
  func `a file that only commits have changed opens unchecked`(sync: CommitSync) throws {
    try write(sync)
    try damageSilently()
    _ = try Environment.open(folder.path)
  }

  @Test func `an open that asks for the check finds what a disk has changed`() throws {
    try damageSilently()
    let error = #expect(throws: LMDBError.self) {
      try Environment.open(folder.path, options: EnvironmentOptions(checksPages: true))
    }
    #expect(error?.meansDamage == true)
  }

  @Test(arguments: [false, true])
  func `a file that something else has changed is checked`(isReadOnly: Bool) throws {
    try damage()
    let error = #expect(throws: LMDBError.self) {
      try Environment.open(folder.path, options: EnvironmentOptions(isReadOnly: isReadOnly))
    }
    #expect(error?.code == .corrupted)
  }

  @Test func `a copy with the time of the original is checked`() throws {
    try damageSilently()
    let time = try FileTime(of: file)
    let copy = file + ".copy"
    try FileManager.default.copyItem(atPath: file, toPath: copy)
    // Keeps the number of the old file in use, so that the copy has another.
    let old = try FileHandle(forReadingFrom: URL(filePath: file))
    defer { try? old.close() }
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: copy, toPath: file)
    try time.set(file)
    #expect(throws: LMDBError.self) { try Environment.open(folder.path) }
  }

  @Test func `a file that passed the check is not checked again`() throws {
    let bytes = try Data(contentsOf: URL(filePath: file))
    try bytes.write(to: URL(filePath: file))
    do { _ = try Environment.open(folder.path) }
    try damageSilently()
    _ = try Environment.open(folder.path)
  }

  @Test func `an open for reading leaves no mark`() throws {
    let bytes = try Data(contentsOf: URL(filePath: file))
    try bytes.write(to: URL(filePath: file))
    let time = try FileTime(of: file)
    do { _ = try Environment.open(folder.path, options: EnvironmentOptions(isReadOnly: true)) }
    #expect(try FileTime(of: file) == time)
  }

  @Test func `a commit does not set a time before itself`() throws {
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
  private var whole: Int
  private var nanoseconds: Int

  init(of file: String) throws {
    var status = stat()
    guard unsafe stat(file, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    whole = Int(time.tv_sec)
    nanoseconds = Int(time.tv_nsec)
  }

  var seconds: Double { Double(whole) + Double(nanoseconds) / 1e9 }

  func set(_ file: String) throws {
    let time = timespec(tv_sec: time_t(whole), tv_nsec: nanoseconds)
    guard unsafe utimensat(AT_FDCWD, file, [time, time], 0) == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
  }
}
