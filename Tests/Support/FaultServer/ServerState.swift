internal import Dispatch
internal import Foundation
internal import SystemInterface

/// The state that the threads of a server share.
final class ServerState: Sendable {
  private struct Contents {
    var resources: [String: Resource] = [:]
    var requestCounts: [String: Int] = [:]
    var requests: [Request] = []
    var deliveries: [Delivery] = []
    var connections: [Int: Socket] = [:]
    /// The connections that reset themselves when the server stops.
    var resetting: Set<Int> = []
    var connectionCount = 0
    var isStopped = false
  }

  private let contents = Mutex(Contents())
  private let threads = DispatchGroup()
  private let listener: Socket
  private let onEvent: @Sendable (FaultServer.Event) -> Void

  init(listener: Socket, onEvent: @escaping @Sendable (FaultServer.Event) -> Void) {
    self.listener = listener
    self.onEvent = onEvent
  }

  var isStopped: Bool { contents.withLock { $0.isStopped } }
  var requests: [Request] { contents.withLock { $0.requests } }
  var connectionCount: Int { contents.withLock { $0.connectionCount } }
  var openConnectionCount: Int { contents.withLock { $0.connections.count } }
  var deliveries: [Delivery] { contents.withLock { $0.deliveries } }

  func route(_ path: String, _ resource: Resource) {
    contents.withLock {
      $0.resources[path] = resource
      $0.requestCounts[path] = 0
    }
  }

  /// Records a request, and returns its reply.
  func reply(to request: Request) -> Reply {
    let reply = contents.withLock { contents -> Reply in
      contents.requests.append(request)
      guard request.method == "GET" || request.method == "HEAD" else {
        return .text(405, "GET or HEAD\n")
      }
      guard let resource = contents.resources[request.path] ?? contents.resources["*"]
      else {
        return .text(404, "no such resource\n")
      }
      let index = contents.requestCounts[request.path, default: 0]
      contents.requestCounts[request.path] = index + 1
      return Reply(to: request, resource: resource, fault: resource.fault(atRequest: index))
    }
    onEvent(.received(request, status: reply.substitute == nil ? reply.status : 0))
    return reply
  }

  /// Lets a connection end itself with RST when the server stops.
  ///
  /// FIN inside a response header is fatal to a process with URLSession on Linux, also for a task
  /// that it is about to cancel.
  func resetsItself(_ number: Int) {
    contents.withLock { _ = $0.resetting.insert(number) }
  }

  /// Records the end of a reply.
  func finished(_ delivery: Delivery) {
    contents.withLock { $0.deliveries.append(delivery) }
    onEvent(.delivered(delivery))
  }

  /// Runs `body` on a thread that ``stop()`` waits for.
  func startThread(_ body: @escaping @Sendable () -> Void) {
    threads.enter()
    ServerThread.detach { [threads] in
      body()
      threads.leave()
    }
  }

  /// Accepts clients until the server stops.
  ///
  /// This is the body of the listening thread.
  func acceptClients() {
    while !contents.withLock({ $0.isStopped }) {
      // On Linux, shutting down the listening socket ends the wait immediately; elsewhere the
      // timeout does.
      guard let client = listener.accept(milliseconds: 200) else { continue }
      let number = contents.withLock { contents -> Int? in
        guard !contents.isStopped else { return nil }
        contents.connectionCount += 1
        contents.connections[contents.connectionCount - 1] = client
        return contents.connectionCount - 1
      }
      guard let number else {
        client.close()
        break
      }
      startThread {
        var connection = Connection(socket: client, number: number, server: self)
        connection.run()
        // Removed before it is closed: `stop` must not shut down a reused descriptor.
        self.contents.withLock {
          $0.connections[number] = nil
          $0.resetting.remove(number)
        }
        client.close()
      }
    }
    listener.close()
  }

  func stop() {
    let wasStopped = contents.withLock { contents in
      defer { contents.isStopped = true }
      guard !contents.isStopped else { return true }
      listener.shutDown()
      for (number, connection) in contents.connections
      where !contents.resetting.contains(number) {
        connection.shutDown()
      }
      return false
    }
    if !wasStopped { threads.wait() }
  }
}
