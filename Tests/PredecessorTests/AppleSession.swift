import DownloadStore
import DownloadSync
import Foundation
import ResumeData
import TestSupport

/// What a background session of Apple's does, without one: there is none on Linux.
///
/// Its tasks write to files of their own in the system's folder, and hand over resume data when they
/// are cancelled or break. Resume data is used up by the task that goes on from it.
final class AppleSession {
  /// A task that has not ended.
  struct Task {
    let url: String
    let file: String
    let entityTag: String
  }

  private let folder: TemporaryFolder
  private let entityTag: String
  private var count = 0
  /// The tasks, by the record ids in their descriptions.
  private(set) var tasks: [String: Task] = [:]

  init(entityTag: String = "\"1\"") throws {
    folder = try TemporaryFolder()
    self.entityTag = entityTag
  }

  /// What the resume data of a record is worth, its file included.
  func blob(of record: DownloadRecord) -> ReconcileCase.Blob {
    let bytes = record.resumeBlob.map(Array.init) ?? []
    let name = (try? ResumeData(bytes))?.partialFileName
    let stamp = name.flatMap { FileStamp(ofFileAt: folder.path($0)) }
    let facts = ResumeData.Facts(
      url: record.url,
      entityTag: record.entityTag,
      lastModified: record.lastModified,
      temporaryFile: stamp.map { .present(byteCount: $0.size) } ?? .missing
    )
    return switch ResumeData.validity(of: bytes, given: facts) {
    case .none: record.resumeBlob == nil ? .none : .corrupt
    case .valid: .valid
    case .corrupt: .corrupt
    case .stale: .stale
    case .temporaryFileMissing: .tempMissing
    }
  }

  /// Starts a task from resume data, or from the first byte without any.
  func start(_ record: DownloadRecord, from blob: [UInt8]? = nil) throws {
    if let blob {
      let data = try ResumeData(blob)
      let name = try require(data.partialFileName)
      tasks[record.id] = Task(
        url: record.url,
        file: folder.path(name),
        entityTag: data.entityTag ?? entityTag
      )
      return
    }
    count += 1
    let name = "CFNetworkDownload_\(String(100_000 + count)).tmp"
    let file = try folder.makeFile(name)
    tasks[record.id] = Task(url: record.url, file: file, entityTag: entityTag)
  }

  /// Bytes arrive.
  func receive(_ text: String, _ record: DownloadRecord) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: try require(tasks[record.id]).file))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  /// Ends a task, as `cancel(byProducingResumeData:)` does, and as the system does with the tasks of
  /// an application that was killed; gives what comes in the completion, or in the error's user info.
  func end(_ record: DownloadRecord) throws -> Data {
    let task = try require(tasks.removeValue(forKey: record.id))
    let draft = ResumeData.Draft(
      url: task.url,
      received: try require(FileStamp(ofFileAt: task.file)).size,
      file: .temporaryName(String(task.file.split(separator: "/").last ?? "")),
      entityTag: task.entityTag
    )
    return Data(try ResumeData(draft, form: .keyedArchive).bytes)
  }

  /// The network is lost: no resume data, and the file is gone.
  func lose(_ record: DownloadRecord) throws {
    try FileManager.default.removeItem(
      atPath: try require(tasks.removeValue(forKey: record.id)).file
    )
  }

  /// Every byte is there: gives the delivered bytes.
  func finish(_ record: DownloadRecord) throws -> String {
    let task = try require(tasks.removeValue(forKey: record.id))
    return try String(contentsOfFile: task.file, encoding: .utf8)
  }

  /// Puts a copy of a partial file where the session finds it, under the name that its resume data
  /// has.
  func restore(_ text: String, for blob: Data) throws {
    try folder.makeFile(try require(try ResumeData(Array(blob)).partialFileName), text)
  }

  private func require<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw CocoaError(.fileNoSuchFile) }
    return value
  }
}
