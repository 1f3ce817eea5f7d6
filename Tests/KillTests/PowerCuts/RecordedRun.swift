import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport

#if os(Linux)
  /// A recorded session of the built `dlstore` with a server: its system calls and the promises of
  /// its commands.
  final class RecordedRun: Sendable {
    /// A guarantee of a command that has returned.
    enum Promise: Sendable, Hashable {
      /// The record exists.
      case known
      /// The file is complete.
      case completed
      /// These versions of the file, counted from 1 as in their names, are beside it.
      case keeps(Range<Int>, isComplete: Bool)
      /// All received bytes are deleted, or an engine has yet to delete them.
      case cancelled
      /// The record is deleted, or an engine has yet to delete it.
      case gone
      /// Another program has damaged the file of the completed download, which is complete again
      /// after its repair.
      case damaged
    }

    /// A moment at which promises change.
    struct Mark: Sendable {
      /// The length of the recording at that moment.
      var end: Int
      /// The promises from this moment on, by path; `nil` for none.
      var promises: [String: Promise?]
    }

    /// One version of a path's content.
    struct Version: Sendable {
      var tag: String
      var body: Body
    }

    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    static let tool = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "dlstore").path

    let server: FaultServer
    /// All versions that a path has had, in order.
    let versions: [String: [Version]]
    /// The places of the commands that copy bytes of finished or foreign files.
    let copies: [Range<Int>]
    /// The places of the commands that replace a finished file and keep it.
    let replacements: [Range<Int>]
    /// The system calls, in order.
    let calls: [SystemCall]
    /// The contents of the disk at the end.
    let end: DiskImage
    private let marks: [Mark]
    private let scratch: TemporaryFolder

    /// The folder whose changes are recorded.
    var diskPath: String { scratch.path("disk") }
    /// The path of the store.
    var storePath: String { scratch.path("disk/store") }

    init() async throws {
      scratch = try TemporaryFolder()
      server = try FaultServer()
      var session = try await RecordedSession(scratch, server)
      try await session.run()
      versions = session.versions
      marks = session.marks
      let calls = try Recording.calls(in: Data(contentsOf: URL(filePath: session.logPath)))
      self.calls = calls
      end = try Self.image(of: session.diskPath)
      func index(_ end: Int) -> Int { calls.partitioningIndex { $0.end > end } }
      copies = session.copies.map { index($0.lowerBound)..<index($0.upperBound) }
      replacements = session.replacements.map { index($0.lowerBound)..<index($0.upperBound) }
    }

    deinit {
      server.stop()
    }

    /// Starts the tool.
    static func start(
      _ arguments: [String],
      storePath: String,
      environment: [String: String] = [:]
    ) throws -> Process {
      let process = Process()
      process.executableURL = URL(filePath: tool)
      process.arguments = arguments + ["--store", storePath]
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.start()
      return process
    }

    // MARK: Results

    /// The number of calls after which each mark was made.
    var markedCalls: [Int] {
      marks.map { mark in calls.partitioningIndex { $0.end > mark.end } }
    }

    /// Returns the promises after the first `count` calls.
    func promises(after count: Int) -> [String: Promise] {
      let end = count == 0 ? 0 : calls[count - 1].end
      var promises: [String: Promise] = [:]
      for mark in marks where mark.end <= end {
        for (path, promise) in mark.promises { promises[path] = promise }
      }
      return promises
    }

    /// The files and folders below a recorded folder.
    private static func image(of path: String) throws -> DiskImage {
      var image = DiskImage()
      for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
        let file = "\(path)/\(name)"
        guard let fileIdentity = FileIdentity(ofFileAt: file) else {
          image.folders.insert(file)
          continue
        }
        if name.hasSuffix("/lock.mdb") { continue }
        image.files[file] = DiskImage.File(
          inode: fileIdentity.inode,
          bytes: [UInt8](try Data(contentsOf: URL(filePath: file))),
          modified: fileIdentity.modified
        )
      }
      return image
    }
  }

  extension Array {
    /// Returns the first index at which a condition holds, for elements sorted by it.
    fileprivate func partitioningIndex(_ condition: (Element) -> Bool) -> Int {
      var low = 0
      var high = count
      while low < high {
        let middle = (low + high) / 2
        if condition(self[middle]) { high = middle } else { low = middle + 1 }
      }
      return low
    }
  }
#endif
