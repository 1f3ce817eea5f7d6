#if Server
  internal import HTTPTypes
  internal import Hummingbird

  /// `GET /events`: the changes of the store as server-sent events.
  enum EventRoutes {
    /// Adds the route.
    static func add(to routes: inout ServerRoutes, _ context: ServerContext) {
      let clients = ClientPlaces(maximum: context.limits.eventClients)
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
#endif
