internal import DownloadStore
package import Foundation
internal import ResumeData
internal import Synchronization

/// Copies of the temporary files that a background session downloads into.
///
/// When a network is lost, a system may report an error without resume data and delete its temporary
/// file (openradar-mirror 15980). The copies limit the loss to ``interval`` bytes: a task's file is
/// copied as it grows, and resume data for the copy is made from resume data that an earlier task of
/// the same record has left, with the count of bytes replaced.
///
/// A copy is three files named by the record: `ID.resume` with the resume data, `ID.copy` with the
/// bytes, and `ID.new` while it is being written.
package final class TemporaryFileCopies: Sendable {
  private struct State: Sendable {
    /// The number of bytes of each copy made by this process.
    var copied: [String: Int64] = [:]
    /// The records whose tasks were asked for resume data, so that their file's name becomes known.
    var asked: Set<String> = []
  }

  private let folder: String
  private let systemFolder: String
  private let interval: Int64
  // Held while a file is copied: a copy is used by nothing else meanwhile.
  private let state = Mutex(State())

  /// Opens the copies in a folder, which is created.
  ///
  /// - Parameters:
  ///   - folder: Where the copies are.
  ///   - systemFolder: Where the system keeps the temporary files.
  ///   - interval: How many bytes arrive between two copies.
  /// - Throws: What `FileManager` throws when the folder cannot be created.
  package init(folder: String, systemFolder: String, interval: Int64 = 1 << 20) throws {
    self.folder = folder
    self.systemFolder = systemFolder
    self.interval = interval
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Whether a task has to be asked for resume data, because nothing names its temporary file; true
  /// once for each record until ``forget(_:)``.
  ///
  /// Never where all bytes may have arrived: a server has nothing to answer to a request for the rest
  /// (status 416).
  package func mustAsk(_ recordID: String, held byteCount: Int64, of total: Int64?) -> Bool {
    guard let total, byteCount < total, Self.isName(recordID), named(recordID) == nil else {
      return false
    }
    return state.withLock { $0.asked.insert(recordID).inserted }
  }

  /// Stores the resume data that a task goes on from: it names the file that the task writes.
  ///
  /// A copy of another version of the file is deleted: continued with this resume data, it would make
  /// a mixture of both.
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

  /// Deletes the copy of a record, durably: the resume data of another entity is stored after it.
  private func deleteCopy(of recordID: String) throws {
    let copy = path(recordID, "copy")
    guard FileIdentity(ofFileAt: copy) != nil else { return }
    try FileManager.default.removeItem(atPath: copy)
    try FileSynchronization.synchronize(folder)
  }

  /// Whether the bytes of a record's copy are of the entity that resume data is of.
  private func isCopy(of recordID: String, ofEntityOf resumeData: Data) -> Bool {
    guard let stored = named(recordID), let data = try? ResumeData(Array(resumeData)) else {
      return false
    }
    return stored.isOfSameEntity(as: data)
  }

  /// Copies the temporary file of a task when enough bytes have arrived since the last copy.
  ///
  /// - Parameters:
  ///   - recordID: The record of the task.
  ///   - byteCount: How many bytes the file has.
  ///   - response: What the task is receiving. An error page and another version of the file go into
  ///     the same temporary file, and are not copied: the resume data speaks of neither.
  package func progressed(
    _ recordID: String,
    held byteCount: Int64,
    of response: ResponseHead
  ) {
    state.withLock { state in
      let last = state.copied[recordID] ?? 0
      // A task that began anew has fewer bytes than its predecessor.
      guard Self.isName(recordID), byteCount - last >= interval || byteCount < last,
        let data = named(recordID), data.isOfEntity(of: response),
        let source = systemPath(of: data)
      else { return }
      let new = path(recordID, "new")
      try? FileManager.default.removeItem(atPath: new)
      do {
        try FileManager.default.copyItem(atPath: source, toPath: new)
        // After a power cut, the copy is the previous one or this one, and whole.
        try FileSynchronization.replace(path(recordID, "copy"), with: new)
        state.copied[recordID] = FileIdentity(ofFileAt: path(recordID, "copy"))?.size
      } catch {
        try? FileManager.default.removeItem(atPath: new)
      }
    }
  }

  /// The resume data with which a download goes on from the copy; `nil` when there is no copy.
  package func resumeData(of recordID: String) -> Data? {
    guard let data = named(recordID),
      let size = FileIdentity(ofFileAt: path(recordID, "copy"))?.size,
      size > 0
    else { return nil }
    return (try? data.settingReceived(size)).map { Data($0.bytes) }
  }

  /// Puts the copy in the place of the temporary file that resume data names, if that is gone or has
  /// fewer bytes than the resume data counts, and the copy is of the same entity.
  package func restore(_ resumeData: Data, of recordID: String) {
    guard Self.isName(recordID), let data = try? ResumeData(Array(resumeData)),
      let target = systemPath(of: data), let received = data.received,
      FileIdentity(ofFileAt: target)?.size ?? 0 < received,
      FileIdentity(ofFileAt: path(recordID, "copy"))?.size ?? 0 >= received,
      isCopy(of: recordID, ofEntityOf: resumeData)
    else { return }
    try? FileManager.default.removeItem(atPath: target)
    try? FileManager.default.copyItem(atPath: path(recordID, "copy"), toPath: target)
  }

  /// The records that have copies.
  package var recordIDs: [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return Set(files.map { String($0.prefix { $0 != "." }) }).sorted()
  }

  /// Deletes the copy of a record.
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

  /// The stored resume data of a record.
  private func named(_ recordID: String) -> ResumeData? {
    guard Self.isName(recordID) else { return nil }
    return FileManager.default.contents(atPath: path(recordID, "resume"))
      .flatMap { try? ResumeData(Array($0)) }
  }

  private func path(_ recordID: String, _ kind: String) -> String {
    "\(folder)/\(recordID).\(kind)"
  }

  private func systemPath(of data: ResumeData) -> String? {
    data.partialFileName.map { "\(systemFolder)/\($0)" }
  }

  /// Whether an id is a plain file name; a task's description may be any text.
  private static func isName(_ recordID: String) -> Bool {
    !recordID.isEmpty && recordID.utf8.count <= 64
      && recordID.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      }
  }
}

extension ResumeData {
  /// Whether two tasks downloaded the same version of a file from the same URL.
  fileprivate func isOfSameEntity(as other: ResumeData) -> Bool {
    url == other.url && entityTag == other.entityTag && lastModified == other.lastModified
  }

  /// Whether a response carries the entity that the resume data is of.
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
