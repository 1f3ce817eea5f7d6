internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import FuzzSupport

/// What must hold of a download, whatever its server sends.
enum DownloadProperties {
  /// The record counts no byte that its file does not have.
  ///
  /// - Throws: `FuzzViolation`, or an error of the store.
  static func checkProgress(of record: DownloadRecord, in store: DownloadStore) throws {
    guard record.state != .completed, record.state != .finalizing, record.received > 0 else {
      return
    }
    let size = size(try store.roots().layout(of: record).partialPath) ?? 0
    guard record.received <= size else {
      throw FuzzViolation("\(record.received) bytes are counted, and the file has \(size)")
    }
  }

  /// A download ends with the bytes of one entity, or with a failure that says why.
  ///
  /// - Throws: `FuzzViolation`, or an error of the store.
  static func checkEnd(
    of record: DownloadRecord,
    in store: DownloadStore,
    _ server: ScriptedServer
  ) throws {
    try checkProgress(of: record, in: store)
    try HeadProperties.checkName(record.filename)
    for attempt in record.attempts where attempt.failure.message.contains(Secrets.mark) {
      throw FuzzViolation("a secret in a message: \(attempt.failure.message)")
    }
    let layout = try store.roots().layout(of: record)
    let names = try FileManager.default.contentsOfDirectory(atPath: layout.folderPath)
    switch record.state {
    case .completed:
      let file = try Array(Data(contentsOf: URL(filePath: layout.finalPath)))
      guard record.received == file.count, record.expected == Int64(file.count) else {
        throw FuzzViolation("\(record.received) bytes are counted of a file of \(file.count)")
      }
      guard server.accepts(file) else {
        throw FuzzViolation("a finished file of \(file.count) bytes that no entity has")
      }
      guard names == [record.filename] else { throw FuzzViolation("the folder has \(names)") }
      if let digest = record.expectedDigest {
        let computed = try Digest.ofFile(at: layout.finalPath).text
        guard computed == digest else { throw FuzzViolation("a finished file of another digest") }
      }
    case .failedPermanent:
      guard record.attempts.last != nil else { throw FuzzViolation("a failure without a reason") }
      guard size(layout.finalPath) == nil else {
        throw FuzzViolation("a failed download has a finished file")
      }
      guard names.isEmpty || names == [String(layout.partialPath.split(separator: "/").last ?? "")]
      else { throw FuzzViolation("the folder has \(names)") }
    default: throw FuzzViolation("the run ends and leaves the download \(record.state)")
    }
  }

  private static func size(_ path: String) -> Int64? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.int64Value
  }
}
