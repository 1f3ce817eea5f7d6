#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import SystemInterface

  /// `GET /events`: the changes of the store as server-sent events.
  enum EventRoutes {
    /// Adds the route.
    static func add(to routes: inout ServerRoutes, _ context: ServerContext) {
      let clients = EventClients(maximum: context.limits.eventClients)
      routes.on("/events", .get) { request, _ in
        guard let place = clients.place() else {
          throw ServerError(.busy, "too many clients follow the events already")
        }
        // The browser's own position is later than that of the page's address.
        let token =
          request.headers[.lastEventID]
          ?? request.uri.queryParameters["after"].map(String.init)
        return Response(
          status: .ok,
          headers: [
            .contentType: "text/event-stream", .accelBuffering: "no",
          ],
          body: ResponseBody { writer in
            try await send(context.feed.changes(after: token), to: &writer)
            withExtendedLifetime(place) {}
            try await writer.finish(nil)
          }
        )
      }
    }

    @concurrent
    private static func send(
      _ changes: LiveChanges,
      to writer: inout any ResponseBodyWriter
    ) async throws {
      try await writer.write(ByteBuffer(string: EventText.beginning))
      let iterator = changes.makeAsyncIterator()
      // A client that is slow makes this wait, and then gets the sum of what it has missed.
      while let event = try await iterator.nextEvent() {
        switch event {
        case .heartbeat: try await writer.write(ByteBuffer(string: EventText.heartbeat))
        case .change(let change):
          try await writer.write(ByteBuffer(string: EventText.text(of: change)))
        }
      }
    }
  }

  /// The clients that follow events, of which there is a maximum.
  final class EventClients: Sendable {
    /// A client's place, which is free again when it is released.
    final class Place: Sendable {
      private let clients: EventClients

      fileprivate init(_ clients: EventClients) { self.clients = clients }

      deinit { clients.count.withLock { $0 -= 1 } }
    }

    private let maximum: Int
    // A lock, because connections begin and end on any thread.
    private let count = Mutex(0)

    init(maximum: Int) { self.maximum = maximum }

    /// Returns a place; `nil` if none is free.
    func place() -> Place? {
      let isFree = count.withLock { count in
        guard count < maximum else { return false }
        count += 1
        return true
      }
      return isFree ? Place(self) : nil
    }
  }
#endif
