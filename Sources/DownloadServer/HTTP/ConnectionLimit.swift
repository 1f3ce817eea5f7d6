#if Server
  internal import HummingbirdCore
  internal import NIOCore
  internal import NIOPosix
  internal import SystemInterface

  /// The open connections of a server, of which those that do nothing make room for others.
  ///
  /// Above the limit, the connection is closed that has waited for a request for the longest, or else
  /// the one whose request has been arriving for the longest. Each has a moment before, so that a flood of
  /// connections does not cut off those that have just been accepted. A request that is being answered is
  /// not interrupted: if all connections have one, further clients wait.
  final class ConnectionLimit: AvailableConnectionsDelegate {
    /// What a connection is busy with, in the order in which connections are closed.
    enum Activity: Int, Sendable {
      case waiting
      case receiving
      case answering
    }

    private struct Connection: Sendable {
      let channel: any Channel
      let activity: Activity
      let since: NIODeadline

      /// The first one is closed first.
      var order: (Int, NIODeadline) { (activity.rawValue, since) }
    }

    private struct State: Sendable {
      /// The accepted connections that have not been closed.
      var openCount = 0
      /// Those of them that this limit closes.
      var closingCount = 0
      var connections: [ObjectIdentifier: Connection] = [:]
      /// Whether connections that have just become idle will be looked at again.
      var isScheduled = false
    }

    /// The time that a connection has for its next request.
    private static let grace = TimeAmount.milliseconds(500)
    /// The number of connections that make room when the process has no descriptor left.
    private static let batch = 8

    private let maximum: Int
    // A lock, because each connection has a thread, and the socket of the server has another one.
    private let state = Mutex(State())

    init(maximum: Int) {
      self.maximum = maximum
    }

    /// Notes what a connection does from now on.
    func note(_ channel: any Channel, _ activity: Activity) {
      let isAbove = state.withLock { state in
        let connection = Connection(channel: channel, activity: activity, since: .now())
        state.connections[ObjectIdentifier(channel)] = connection
        return activity != .answering && excess(state) > 0
      }
      if isAbove { makeRoom() }
    }

    /// Notes that a connection has ended.
    func forget(_ channel: any Channel) {
      state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
    }

    /// Closes connections above the limit; also some others if the process has no descriptor left.
    func makeRoom(isExhausted: Bool = false) {
      let (victims, isLate) = state.withLock { state in
        let count = isExhausted ? Self.batch : excess(state)
        let idle = state.connections.filter { $0.value.activity != .answering }
          .sorted { $0.value.order < $1.value.order }
        let latest = NIODeadline.now() - Self.grace
        let victims = idle.lazy.filter { $0.value.since <= latest }.prefix(max(count, 0))
        for victim in victims { state.connections[victim.key] = nil }
        state.closingCount += victims.count
        let isLate = excess(state) > 0 && victims.count < idle.count && !state.isScheduled
        if isLate { state.isScheduled = true }
        return (victims.map(\.value.channel), isLate)
      }
      for channel in victims {
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.closingCount -= 1 } }
        channel.close(promise: nil)
      }
      guard isLate else { return }
      MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.grace) {
        self.state.withLock { $0.isScheduled = false }
        self.makeRoom()
      }
    }

    private func excess(_ state: borrowing State) -> Int {
      state.openCount - state.closingCount - maximum
    }

    // MARK: What Hummingbird calls

    func connectionOpened() {
      let isAbove = state.withLock { state in
        state.openCount += 1
        return excess(state) > 0
      }
      if isAbove { makeRoom() }
    }

    func connectionClosed() {
      state.withLock { $0.openCount -= 1 }
    }

    /// Whether the next connection is accepted: one more than the limit, for which another one closes.
    func isAcceptingNewConnections() -> Bool {
      state.withLock { excess($0) <= 0 }
    }
  }
#endif
