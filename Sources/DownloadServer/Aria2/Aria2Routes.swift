#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ProgramOutput

  /// `/jsonrpc`: aria2's JSON-RPC by POST and GET.
  ///
  /// The only rule of access is the token in the parameters; no cookie counts. ``AccessRules`` has
  /// refused pages of other sites that `--rpc-origin` does not name before a request comes here.
  enum Aria2Routes {
    static let path = "/jsonrpc"

    /// Adds the routes.
    static func add(to routes: inout ServerRoutes, _ context: ServerContext) {
      let token = context.token
      let service = Aria2Service(store: context.store, allowsChanges: context.allowsChanges) {
        guard let token else { return true }
        return AccessToken.isEqual($0, token.text)
      }
      let longCalls = ClientPlaces(maximum: context.limits.longCalls)
      routes.on(path, .post) { request, _ in
        // The token is in the body, so a client without one can send as much as others.
        let (body, place) = try await RequestBytes.read(request, context.limits, longIn: longCalls)
        defer { withExtendedLifetime(place) {} }
        return try await answer(Aria2Request(body: body), to: request, service, context)
      }
      routes.on(path, .get) { request, _ in
        let query = items(of: request)
        guard !query.contains(where: { $0.name == "jsoncallback" }) else {
          throw ServerError(
            .invalidRequest,
            "JSONP is not supported: any page could read its answers; use --rpc-origin instead"
          )
        }
        return try await answer(Aria2Request(query: query), to: request, service, context)
      }
      routes.on(path, .options) { request, _ in preflight(request, context) }
    }

    private static func answer(
      _ call: Aria2Request,
      to request: Request,
      _ service: Aria2Service,
      _ context: ServerContext
    ) async throws -> Response {
      let feed = context.feed
      let summary = feed.summary
      let live = Aria2Service.Live(
        bytesPerSecond: summary.bytesPerSecond,
        counts: summary.counts.isEmpty ? nil : summary.counts
      ) { feed.speed(of: $0) }
      let (answer, cancellations) = try await context.read { _ in
        var service = service
        return (service.answer(call, live), service.cancellations)
      }
      try await APIAction(.cancel).carryOut(cancellations, in: context.store)
      var headers = origin(of: request, context)
      headers[.contentType] = "application/json-rpc"
      return Response(
        status: HTTPResponse.Status(code: answer.status),
        headers: headers,
        body: .init(byteBuffer: ByteBuffer(bytes: answer.body))
      )
    }

    /// Answers the question of a browser whether a page of another site may call.
    ///
    /// The page may be one of the internet and this server one of the local network.
    private static func preflight(_ request: Request, _ context: ServerContext) -> Response {
      var headers = origin(of: request, context)
      if headers[.accessControlAllowOrigin] != nil {
        headers[.accessControlAllowMethods] = "POST, GET, OPTIONS"
        headers[.accessControlAllowHeaders] = "Content-Type"
        headers[.accessControlMaxAge] = "86400"
        if request.headers[.requestPrivateNetwork] == "true" {
          headers[.allowPrivateNetwork] = "true"
        }
      }
      return Response(status: .noContent, headers: headers)
    }

    /// The fields that let the page of an allowed origin read the answer.
    private static func origin(of request: Request, _ context: ServerContext) -> HTTPFields {
      var headers: HTTPFields = [.vary: "Origin"]
      if let origin = request.headers[.origin], context.rpcOrigins.contains(origin) {
        headers[.accessControlAllowOrigin] = origin
      }
      return headers
    }

    private static func items(of request: Request) -> [(name: Substring, value: Substring)] {
      (request.uri.query ?? "").split(separator: "&").map { item in
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0], parts.count > 1 ? parts[1] : "")
      }
    }
  }
#endif
