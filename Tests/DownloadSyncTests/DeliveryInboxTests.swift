import DownloadStore
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct DeliveryInboxTests {
  private let folder: TemporaryFolder
  private let inbox: DeliveryInbox
  private let body = Array("the body".utf8)

  init() throws {
    folder = try TemporaryFolder()
    inbox = try DeliveryInbox(folder: folder.path("inbox"))
  }

  /// Records what it receives.
  private final class Sink: TaskSink {
    let heads = Mutex<[ResponseHead]>([])
    let bytes = Mutex<[UInt8]>([])

    func receive(_ head: ResponseHead) -> BodyDisposition {
      heads.withLock { $0.append(head) }
      return .proceed
    }

    func receive(_ span: Span<UInt8>) -> BodyDisposition {
      bytes.withLock { bytes in for index in span.indices { bytes.append(span[index]) } }
      return .proceed
    }

    func finish(_ outcome: TaskOutcome) {}
  }

  private func description(task: UInt64 = 1, offset: Int64 = 0) -> DeliveryInbox.Description {
    let fields = [HeaderField(name: "ETag", value: "\"1\"")]
    let head = ResponseHead(status: 206, fields: fields, url: "https://h/a")
    return DeliveryInbox.Description(task: task, recordID: "r", offset: offset, head: head)
  }

  @discardableResult
  private func deliver(_ task: UInt64 = 1, offset: Int64 = 0) throws -> DeliveryInbox.Delivery {
    let path = try folder.makeFile("delivered by the system", "the body")
    return try inbox.accept(path, description(task: task, offset: offset))
  }

  private var files: [String] { get throws { try folder.names(in: "inbox") } }

  @Test func `a later process finds a delivered file and its response head`() throws {
    try deliver(7, offset: 3)
    #expect(try !folder.names(in: "").contains("delivered by the system"))
    let later = try DeliveryInbox(folder: folder.path("inbox"))
    let delivery = try #require(later.leftovers().first)
    #expect(delivery.description == description(task: 7, offset: 3))
    #expect(delivery.byteCount == 8)
    let sink = Sink()
    #expect(delivery.send(to: sink) == .completed)
    #expect(sink.bytes.withLock { $0 } == body)
    #expect(sink.heads.withLock { $0.first?["Content-Range"] } == "bytes 3-10/*")
    // The delivery stays until it is committed.
    #expect(later.leftovers() == [delivery])
    later.remove(delivery)
    #expect(try files.isEmpty && later.leftovers().isEmpty)
  }

  /// Runs `body` with the sync of the given position failing, and returns the paths below the
  /// folder.
  private func syncs(failing: Int? = nil, _ body: () throws -> Void) throws -> [String] {
    let paths = Mutex<[String]>([])
    let root = folder.path("")
    let note: @Sendable (String) -> Int32 = { path in
      paths.withLock { paths in
        paths.append(String(path.dropFirst(root.count)))
        return paths.count - 1 == failing ? EIO : 0
      }
    }
    try FileSynchronization.$observer.withValue(note, operation: body)
    return paths.withLock { $0 }
  }

  @Test func `a delivered file is durable under its new name before it counts as delivered`() throws
  {
    let made = try syncs { try deliver() }
    #expect(made == ["delivered by the system", "inbox/1-1.json", "inbox"])
    for failing in 0..<3 {
      #expect(throws: POSIXError.self) { _ = try syncs(failing: failing) { try deliver(2) } }
      #expect(inbox.leftovers().map(\.description.task) == [1], "sync \(failing)")
      #expect(try files == ["1-1.delivered", "1-1.json"], "sync \(failing)")
    }
  }

  @Test func `tasks with the same number do not replace each other's files`() throws {
    let deliveries = [try deliver(1), try deliver(1), try deliver(2)]
    #expect(inbox.leftovers() == deliveries)
  }

  @Test func `deliveries that a kill left incomplete are deleted`() throws {
    let whole = try deliver(1)
    try deliver(2)
    try deliver(3)
    try deliver(4)
    try FileManager.default.removeItem(atPath: folder.path("inbox/2-1.delivered"))
    try FileManager.default.removeItem(atPath: folder.path("inbox/3-1.json"))
    try folder.makeFile("inbox/4-1.delivered", "the bod")
    try folder.makeFile("inbox/5.delivered", "of an earlier build")
    #expect(inbox.leftovers() == [whole])
    #expect(try files == ["1-1.delivered", "1-1.json"])
  }

  @Test func `a missing file is a failure`() throws {
    let delivery = try deliver()
    try FileManager.default.removeItem(atPath: folder.path("inbox/1-1.delivered"))
    guard case .failed = delivery.send(to: Sink()) else {
      Issue.record("no failure")
      return
    }
  }
}
