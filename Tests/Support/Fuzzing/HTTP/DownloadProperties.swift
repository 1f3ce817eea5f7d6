internal import DownloadStore
internal import DownloadSync
internal import Foundation

/// Properties of every download, whatever its server sends.
enum DownloadProperties {
  /// Checks that the record counts no byte that its file does not have.
  ///
  /// - Throws: `FuzzViolation`, or an error of the store.
  static func checkProgress(of record: DownloadRecord, in store: RecordStore) throws {
    guard record.state != .completed, record.state != .finalizing, record.received > 0 else {
      return
    }
    let size = size(try store.roots().layout(of: record).partialPath) ?? 0
    guard record.received <= size else {
      throw FuzzViolation("the record counts \(record.received) bytes, but the file has \(size)")
    }
  }

  /// Checks that a download ends with the bytes of one entity, or with a failure that has a reason.
  ///
  /// - Throws: `FuzzViolation`, or an error of the store.
  static func checkEnd(
    of record: DownloadRecord,
    in store: RecordStore,
    _ server: ScriptedServer
  ) throws {
    try checkProgress(of: record, in: store)
    try HeadProperties.checkName(record.filename)
    for attempt in record.attempts where attempt.failure.message.contains(Secrets.mark) {
      throw FuzzViolation("a message contains a secret: \(attempt.failure.message)")
    }
    let layout = try store.roots().layout(of: record)
    let names = try FileManager.default.contentsOfDirectory(atPath: layout.folderPath)
    switch record.state {
    case .completed:
      let file = try Array(Data(contentsOf: URL(filePath: layout.finalPath)))
      guard record.received == file.count, record.expected == Int64(file.count) else {
        throw FuzzViolation(
          "the record counts \(record.received) bytes, but the file has \(file.count)"
        )
      }
      guard server.accepts(file) else {
        throw FuzzViolation("the finished file of \(file.count) bytes matches no entity")
      }
      guard names == [record.filename] else { throw FuzzViolation("the folder contains \(names)") }
      if let digest = record.expectedDigest {
        let computed = try Digest.ofFile(at: layout.finalPath).text
        guard computed == digest else {
          throw FuzzViolation("the digest of the finished file differs")
        }
      }
    case .failedPermanent:
      guard record.attempts.last != nil else { throw FuzzViolation("the failure has no reason") }
      guard size(layout.finalPath) == nil else {
        throw FuzzViolation("a failed download has a finished file")
      }
      guard names.isEmpty || names == [String(layout.partialPath.split(separator: "/").last ?? "")]
      else { throw FuzzViolation("the folder contains \(names)") }
    default: throw FuzzViolation("the run ended with the download \(record.state)")
    }
  }

  private static func size(_ path: String) -> Int64? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.int64Value
  }
}
