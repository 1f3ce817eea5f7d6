internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// A folder for the files that a background session has delivered and the engine has not committed
/// yet.
///
/// A session delivers a finished file once, to a process that may die before the engine has read
/// it. The inbox therefore moves the file into its own folder and stores a description beside it,
/// so that a later process finds both.
///
/// A delivery consists of two files: `NAME.json` with the description and `NAME.delivered` with the
/// body. Both are synced, and the body is moved last. A body without a description is never
/// adopted.
package final class DeliveryInbox: Sendable {
  /// The request of a task and the server's response.
  package struct Description: Sendable, Hashable, Codable {
    /// The session's identifier of the task.
    package var task: UInt64
    /// The id of the task's record.
    package var recordID: String
    /// The first requested byte.
    package var offset: Int64
    private var status: Int
    private var fields: [HeaderField]
    private var url: String?

    /// Creates a description.
    package init(task: UInt64, recordID: String, offset: Int64, head: ResponseHead) {
      self.task = task
      self.recordID = recordID
      self.offset = offset
      status = head.status
      fields = head.fields
      url = head.url
    }

    /// The head of the last response.
    package var head: ResponseHead {
      var head = ResponseHead(status: status, fields: fields, url: url)
      head.isDecoded = true
      return head
    }
  }

  /// A delivered body in the inbox.
  package struct Delivery: Sendable, Hashable {
    /// The request and the response of the body.
    package let description: Description
    /// The size of the body in bytes.
    package let byteCount: Int64
    fileprivate let name: String
    fileprivate let folder: String

    fileprivate var bodyPath: String { "\(folder)/\(name).delivered" }

    /// Passes the head and the body to a sink.
    ///
    /// The file stays in the inbox. Blocks while the sink processes the bytes.
    ///
    /// - Returns: The outcome to pass to the sink next.
    package func send(to sink: any TaskSink) -> TaskOutcome {
      let head = description.head.forDelivery(byteCount: byteCount, from: description.offset)
      guard sink.receive(head) == .proceed else { return .cancelled }
      do {
        let file = try FileHandle(forReadingFrom: URL(filePath: bodyPath))
        defer { try? file.close() }
        while let part = try file.read(upToCount: 262_144), !part.isEmpty {
          guard sink.receive(Array(part).span) == .proceed else { return .cancelled }
        }
        return .completed
      } catch {
        let message = "the delivered file cannot be read: \(error.localizedDescription)"
        return .failed(DownloadFailure(.unknown, message))
      }
    }
  }

  private struct Contents: Codable {
    var description: Description
    var byteCount: Int64
  }

  private let folder: String
  // Held while files are moved, so that two deliveries never choose the same name.
  private let lock = Mutex(())

  /// Opens the inbox in a folder, which is created if missing.
  ///
  /// - Throws: The error of `FileManager` if the folder cannot be created.
  package init(folder: String) throws {
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Moves a delivered file into the inbox.
  ///
  /// Synced on return. On an error the file is still at `path`, unless only the final sync of the
  /// folder failed.
  ///
  /// - Throws: `POSIXError` if a sync fails; the error of Foundation if a file cannot be written or
  ///   moved.
  package func accept(_ path: String, _ description: Description) throws -> Delivery {
    try lock.withLock { _ in
      // A session that is created again may restart its task identifiers at one.
      var number = 1
      func name() -> String { "\(description.task)-\(number)" }
      while FileManager.default.fileExists(atPath: "\(folder)/\(name()).json") { number += 1 }
      try FileSynchronization.synchronize(path)
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      let byteCount = (attributes[.size] as? NSNumber)?.int64Value ?? 0
      let contents = Contents(description: description, byteCount: byteCount)
      let delivery = Delivery(
        description: description,
        byteCount: byteCount,
        name: name(),
        folder: folder
      )
      let descriptionPath = "\(folder)/\(delivery.name).json"
      do {
        // Does not follow a link.
        try JSONEncoder().encode(contents)
          .write(to: URL(filePath: descriptionPath), options: .withoutOverwriting)
        try FileSynchronization.synchronize(descriptionPath)
        try FileManager.default.moveItem(atPath: path, toPath: delivery.bodyPath)
        try FileSynchronization.synchronize(folder)
      } catch {
        try? FileManager.default.removeItem(atPath: descriptionPath)
        throw error
      }
      return delivery
    }
  }

  /// Returns the deliveries of earlier processes, sorted by task.
  ///
  /// Incomplete deliveries are deleted: a body without a description, a description without a body,
  /// and a body whose size differs from the description.
  package func leftovers() -> [Delivery] {
    lock.withLock { _ in
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      var found: [Delivery] = []
      var complete: Set<String> = []
      for file in files where file.hasSuffix(".json") {
        let name = String(file.dropLast(".json".count))
        guard let delivery = delivery(named: name) else { continue }
        found.append(delivery)
        complete.formUnion([file, "\(name).delivered"])
      }
      for file in files where !complete.contains(file) {
        try? FileManager.default.removeItem(atPath: "\(folder)/\(file)")
      }
      return found.sorted { ($0.description.task, $0.name) < ($1.description.task, $1.name) }
    }
  }

  /// Deletes the files of a delivery.
  package func remove(_ delivery: Delivery) {
    // The body first: a description without a body is deleted by the next launch.
    try? FileManager.default.removeItem(atPath: delivery.bodyPath)
    try? FileManager.default.removeItem(atPath: "\(folder)/\(delivery.name).json")
  }

  /// The names of all files in the inbox, for tests.
  package var fileNames: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  private func delivery(named name: String) -> Delivery? {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(name).json"),
      let contents = try? JSONDecoder().decode(Contents.self, from: data)
    else { return nil }
    let delivery = Delivery(
      description: contents.description,
      byteCount: contents.byteCount,
      name: name,
      folder: folder
    )
    guard FileIdentity(ofFileAt: delivery.bodyPath)?.size == contents.byteCount else { return nil }
    return delivery
  }
}

extension TaskSnapshot {
  /// Creates a snapshot of the ended task of a delivery that an earlier process left.
  package init(_ delivery: DeliveryInbox.Delivery, id: TaskID) {
    self.init(
      id: id,
      recordID: delivery.description.recordID,
      bytesReceived: delivery.byteCount,
      offset: delivery.description.offset,
      state: .ended,
      isDelivered: true
    )
  }
}
