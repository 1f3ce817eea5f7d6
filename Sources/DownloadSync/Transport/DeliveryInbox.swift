internal import DownloadStore
internal import Foundation
internal import Synchronization

/// Keeps the files that a background session has delivered until an engine has committed them.
///
/// A session delivers a finished file once, to a process that may die before the engine has read it.
/// So the inbox moves the file to a folder of its own, with a description, and a later process finds
/// both there.
///
/// A delivery is two files, `NAME.json` with the description and `NAME.delivered` with the body. Both
/// are synced, and the body gets its name last: a body without a description is never adopted.
package final class DeliveryInbox: Sendable {
  /// What a task was asked for and what the server answered.
  package struct Description: Sendable, Hashable, Codable {
    /// The session's number for the task.
    package var task: UInt64
    /// The record that the task works for.
    package var recordID: String
    /// The first byte that was asked for.
    package var offset: Int64
    private var status: Int
    private var fields: [HeaderField]
    private var url: String?

    /// Describes a delivery.
    package init(task: UInt64, recordID: String, offset: Int64, head: ResponseHead) {
      self.task = task
      self.recordID = recordID
      self.offset = offset
      status = head.status
      fields = head.fields
      url = head.url
    }

    /// The head of the last response.
    package var head: ResponseHead { ResponseHead(status: status, fields: fields, url: url) }
  }

  /// A body in the inbox.
  package struct Delivery: Sendable, Hashable {
    /// What the body is.
    package let description: Description
    /// The number of bytes.
    package let byteCount: Int64
    fileprivate let name: String
    fileprivate let folder: String

    fileprivate var bodyPath: String { "\(folder)/\(name).delivered" }

    /// Hands head and body to a sink.
    ///
    /// The file stays in the inbox.
    ///
    /// - Returns: The outcome for the sink to hear next.
    package func send(to sink: any TaskSink) -> TaskOutcome {
      let head = description.head.ofDelivery(byteCount: byteCount, from: description.offset)
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
        return .failed(TaskFailure(code: .unknown, message: message))
      }
    }
  }

  private struct Contents: Codable {
    var description: Description
    var byteCount: Int64
  }

  private let folder: String
  // Held while files are moved, so that two deliveries never choose one name.
  private let lock = Mutex(())

  /// Opens the inbox in a folder, which is created.
  ///
  /// - Throws: What `FileManager` throws when the folder cannot be created.
  package init(folder: String) throws {
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Moves a delivered file into the inbox.
  ///
  /// Durable on return.
  ///
  /// - Throws: What `FileManager` throws; the file is where it was then.
  package func accept(_ path: String, _ description: Description) throws -> Delivery {
    try lock.withLock { _ in
      // A session that is created again may count its tasks from one again.
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
        try JSONEncoder().encode(contents).write(to: URL(filePath: descriptionPath))
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

  /// The deliveries that an earlier process has left, in the order of their tasks.
  ///
  /// What is incomplete is deleted: a body without a description, a description without a body, and a
  /// body of another length.
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

  /// Deletes a delivery.
  package func remove(_ delivery: Delivery) {
    // The body first: a description alone is deleted by the next launch.
    try? FileManager.default.removeItem(atPath: delivery.bodyPath)
    try? FileManager.default.removeItem(atPath: "\(folder)/\(delivery.name).json")
  }

  /// The names of all files, for tests.
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
  /// The task of a delivery that an earlier process has left.
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
