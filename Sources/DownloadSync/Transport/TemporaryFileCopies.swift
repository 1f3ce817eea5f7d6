internal import DownloadStore
package import Foundation
internal import ResumeData
internal import SystemInterface

/// Copies of the temporary files into which a background session downloads.
///
/// When the network is lost, a system may report an error without resume data and delete its
/// temporary file (openradar-mirror 15980). The copies limit the loss to about `interval` bytes. A
/// task's file is copied as it grows. The resume data for the copy is that of an earlier task of
/// the same record, with the number of received bytes replaced.
///
/// A copy consists of up to three files: `ID.resume` with the resume data, `ID.copy` with the
/// bytes, and `ID.new` while the bytes are being copied. `ID` is the id of the record.
package final class TemporaryFileCopies: Sendable {
  private struct State: Sendable {
    /// The size of each copy made by this process, in bytes.
    var copied: [String: Int64] = [:]
    /// The records whose tasks were asked for resume data, which names their temporary file.
    var asked: Set<String> = []
  }

  private let folder: String
  private let systemFolder: String
  private let interval: Int64
  // Held while a file is copied, so that its resume data is not replaced during the copy.
  private let state = Mutex(State())

  /// Opens the copies in a folder, which is created if missing.
  ///
  /// - Parameters:
  ///   - folder: The folder for the copies.
  ///   - systemFolder: The folder in which the system stores the temporary files.
  ///   - interval: The number of bytes between two copies.
  /// - Throws: The error of `FileManager` if the folder cannot be created.
  package init(folder: String, systemFolder: String, interval: Int64 = 1 << 20) throws {
    self.folder = folder
    self.systemFolder = systemFolder
    self.interval = interval
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Returns whether a task must be asked for resume data, because the name of its temporary file
  /// is unknown.
  ///
  /// Returns true once for each record until ``forget(_:)``. Never returns true if all bytes may
  /// have arrived: a server rejects a request for the remaining zero bytes (status 416).
  package func mustAsk(_ recordID: String, held byteCount: Int64, of total: Int64?) -> Bool {
    guard let total, byteCount < total, Self.isName(recordID), named(recordID) == nil else {
      return false
    }
    return state.withLock { $0.asked.insert(recordID).inserted }
  }

  /// Stores the resume data from which a task continues, and which names the file that the task
  /// writes.
  ///
  /// A copy of another version of the file is deleted: continuing it with this resume data would
  /// mix the two versions.
  package func note(_ resumeData: Data, of recordID: String) {
    guard Self.isName(recordID) else { return }
    state.withLock { state in
      do {
        if !isCopy(of: recordID, ofEntityOf: resumeData) {
          state.copied[recordID] = nil
          try deleteCopy(of: recordID)
        }
        try resumeData.write(to: URL(filePath: path(recordID, "resume")), options: .atomic)
      } catch {
        // Without resume data no copy is made or used.
        try? FileManager.default.removeItem(atPath: path(recordID, "resume"))
      }
    }
  }

  /// Deletes the copy of a record and syncs the folder, before resume data of another entity is
  /// stored.
  private func deleteCopy(of recordID: String) throws {
    let copy = path(recordID, "copy")
    guard FileIdentity(ofFileAt: copy) != nil else { return }
    try FileManager.default.removeItem(atPath: copy)
    try FileSynchronization.synchronize(folder)
  }

  /// Whether a record's copy contains bytes of the entity that resume data describes.
  private func isCopy(of recordID: String, ofEntityOf resumeData: Data) -> Bool {
    guard let stored = named(recordID), let data = try? URLSessionResumeData(Array(resumeData))
    else {
      return false
    }
    return stored.isOfSameEntity(as: data)
  }

  /// Copies the temporary file of a task if enough bytes have arrived since the last copy.
  ///
  /// - Parameters:
  ///   - recordID: The id of the task's record.
  ///   - byteCount: The size of the file in bytes.
  ///   - response: The response that the task is receiving. The body of an error or of another
  ///     version of the file goes into the same temporary file. It is not copied, because the
  ///     resume data does not describe it.
  package func progressed(
    _ recordID: String,
    held byteCount: Int64,
    of response: ResponseHead
  ) {
    state.withLock { state in
      let last = state.copied[recordID] ?? 0
      // A restarted task has fewer bytes than the previous one.
      guard Self.isName(recordID), byteCount - last >= interval || byteCount < last,
        let data = named(recordID), data.isOfEntity(of: response),
        let source = systemPath(of: data)
      else { return }
      let new = path(recordID, "new")
      try? FileManager.default.removeItem(atPath: new)
      do {
        try FileManager.default.copyItem(atPath: source, toPath: new)
        // After a power failure, the copy is the previous one or this one, and complete.
        try FileSynchronization.replace(path(recordID, "copy"), with: new)
        state.copied[recordID] = FileIdentity(ofFileAt: path(recordID, "copy"))?.size
      } catch {
        try? FileManager.default.removeItem(atPath: new)
      }
    }
  }

  /// Returns the resume data from which a download continues with the copy; `nil` if there is no
  /// copy.
  package func resumeData(of recordID: String) -> Data? {
    guard let data = named(recordID),
      let size = FileIdentity(ofFileAt: path(recordID, "copy"))?.size,
      size > 0
    else { return nil }
    return (try? data.settingReceived(size)).map { Data($0.bytes) }
  }

  /// Restores the temporary file of resume data from the copy.
  ///
  /// Does so if the temporary file is missing or shorter than the resume data says, and if the copy
  /// is long enough and of the same entity.
  package func restore(_ resumeData: Data, of recordID: String) {
    guard Self.isName(recordID), let data = try? URLSessionResumeData(Array(resumeData)),
      let target = systemPath(of: data), let received = data.received,
      FileIdentity(ofFileAt: target)?.size ?? 0 < received,
      FileIdentity(ofFileAt: path(recordID, "copy"))?.size ?? 0 >= received,
      isCopy(of: recordID, ofEntityOf: resumeData)
    else { return }
    try? FileManager.default.removeItem(atPath: target)
    try? FileManager.default.copyItem(atPath: path(recordID, "copy"), toPath: target)
  }

  /// The ids of the records that have a copy or stored resume data.
  package var recordIDs: [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return Set(files.map { String($0.prefix { $0 != "." }) }).sorted()
  }

  /// Deletes the copy and the stored resume data of a record.
  package func forget(_ recordID: String) {
    guard Self.isName(recordID) else { return }
    state.withLock { state in
      state.copied[recordID] = nil
      state.asked.remove(recordID)
    }
    for kind in ["resume", "copy", "new"] {
      try? FileManager.default.removeItem(atPath: path(recordID, kind))
    }
  }

  /// Returns the stored resume data of a record.
  private func named(_ recordID: String) -> URLSessionResumeData? {
    guard Self.isName(recordID) else { return nil }
    return FileManager.default.contents(atPath: path(recordID, "resume"))
      .flatMap { try? URLSessionResumeData(Array($0)) }
  }

  private func path(_ recordID: String, _ kind: String) -> String {
    "\(folder)/\(recordID).\(kind)"
  }

  private func systemPath(of data: URLSessionResumeData) -> String? {
    data.partialFileName.map { "\(systemFolder)/\($0)" }
  }

  /// Whether an id is safe as a file name: a task's description may be any text.
  private static func isName(_ recordID: String) -> Bool {
    !recordID.isEmpty && recordID.utf8.count <= 64
      && recordID.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      }
  }
}

extension URLSessionResumeData {
  /// Whether both describe the same version of a file at the same URL.
  fileprivate func isOfSameEntity(as other: URLSessionResumeData) -> Bool {
    url == other.url && entityTag == other.entityTag && lastModified == other.lastModified
  }

  /// Whether a response contains the entity that the resume data describes.
  ///
  /// A 206 continues it: the system has compared the validators.
  fileprivate func isOfEntity(of response: ResponseHead) -> Bool {
    switch response.status {
    case 206: true
    case 200: entityTag == response["ETag"] && lastModified == response["Last-Modified"]
    default: false
    }
  }
}

/// Syncs the files that a transport stores.
enum FileSynchronization {
  /// Called with the path before each sync; a result other than 0 makes the sync fail with that
  /// error number.
  ///
  /// For tests: otherwise only a power failure shows what was synced.
  @TaskLocal static var observer: (@Sendable (_ path: String) -> Int32)?

  /// Syncs a file or a folder.
  ///
  /// - Throws: `POSIXError`.
  static func synchronize(_ path: String) throws {
    if let code = observer?(path), code != 0 {
      throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  /// Syncs the file `new` and renames it to `path`, replacing an existing file.
  ///
  /// The folder is not synced.
  ///
  /// - Throws: `POSIXError`.
  static func replace(_ path: String, with new: String) throws {
    try synchronize(new)
    guard rename(new, path) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }
}
