#if Server
  internal import Hummingbird

  /// The routes of a server: each path with a method, and the function that answers it.
  struct ServerRoutes {
    /// What a route answers a request with.
    typealias Handler = @Sendable (Request, ConnectionContext) async throws -> Response

    let router = Router(context: ConnectionContext.self)
    private(set) var methods = RouteMethods()

    /// Adds a route.
    ///
    /// - Parameters:
    ///   - path: The path; a part in braces is a parameter.
    ///   - method: The method. A route for `GET` answers `HEAD`, too.
    ///   - handler: Answers a request. ``SecureResponder`` takes the body out of the answer to `HEAD`.
    mutating func on(_ path: String, _ method: HTTPRequest.Method, use handler: @escaping Handler) {
      router.on(RouterPath(path), method: method, use: handler)
      if method == .get { router.on(RouterPath(path), method: .head, use: handler) }
      methods.add(path, method == .get ? ["GET", "HEAD"] : [method.rawValue])
    }
  }
#endif
