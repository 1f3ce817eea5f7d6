internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ResumeData

/// The file of a task of a background session.
struct SessionFile: Sendable {
  let path: String
  /// The number of bytes that an earlier task left in it.
  let kept: Int64
  /// The validator of those bytes.
  let validator: Validator?

  /// Creates the file of a new task, or opens that of a resumed one.
  ///
  /// - Throws: `DownloadFailure` with `unknown` if the system cannot read the resume data, if it has
  ///   no validator, or if its file is missing or too short.
  init(
    for request: TaskRequest,
    number: UInt64,
    in folder: String,
    of system: URLSessionResumeData.Consumer
  ) throws(DownloadFailure) {
    guard let resumeData = request.resumeData else {
      let digits = String(number, radix: 36, uppercase: true)
      let name = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
      path = "\(folder)/CFNetworkDownload_\(name).tmp"
      kept = 0
      validator = nil
      guard FileManager.default.createFile(atPath: path, contents: nil) else {
        throw DownloadFailure(.unknown, "the file cannot be created")
      }
      return
    }
    guard let data = try? URLSessionResumeData(Array(resumeData)), let name = data.partialFileName
    else {
      throw DownloadFailure(.unknown, "the resume data cannot be used")
    }
    guard (try? data.needsRepair(for: system)) == false else {
      throw DownloadFailure(.unknown, "Invalid resume data for background download.")
    }
    path = "\(folder)/\(name)"
    validator = Validator(entityTag: data.entityTag, lastModified: data.lastModified)
    guard validator != nil || data.received == 0 else {
      throw DownloadFailure(.unknown, "the resume data has no validator")
    }
    guard let size = FileIdentity(ofFileAt: path)?.size, size >= data.received ?? 0 else {
      throw DownloadFailure(.unknown, "the resume data's file is missing or too short")
    }
    kept = data.received ?? size
    do {
      try cut(to: kept)
    } catch {
      throw DownloadFailure(.unknown, "the file cannot be truncated: \(error)")
    }
  }

  /// The request to the network.
  func networkRequest(for request: TaskRequest) -> TaskRequest {
    var request = request
    request.resumeData = nil
    if kept > 0 {
      request.offset = kept
      request.validator = validator?.ifRange
    }
    return request
  }

  func append(_ bytes: [UInt8]) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    try file.seekToEnd()
    try file.write(contentsOf: Data(bytes))
  }

  func cut(to size: Int64) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    try file.truncate(atOffset: UInt64(size))
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
