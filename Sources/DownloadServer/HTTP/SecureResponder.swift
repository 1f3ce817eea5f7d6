#if Server
  internal import DownloadStore
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging
  internal import NIOHTTP1
  internal import ObjectStore
  internal import ProgramOutput

  /// Answers the requests of a server: checks each of them before any route sees it, and adds the header
  /// fields that protect pages.
  struct SecureResponder<Routes: HTTPResponder>: HTTPResponder
  where Routes.Context == ConnectionContext {
    typealias Context = ConnectionContext

    let rules: AccessRules
    /// Whether the cookie is sent over TLS only.
    let isSecure: Bool
    let routes: Routes
    let methods: RouteMethods
    /// What the routes share.
    let server: ServerContext

    @concurrent
    func respond(to request: Request, context: Context) async throws -> Response {
      var response = await answer(request, context)
      for (name, value) in SecurityHeaders.fields {
        guard let name = HTTPField.Name(name), !response.headers.contains(name) else { continue }
        response.headers[name] = value
      }
      if !response.headers.contains(.cacheControl) {
        response.headers[.cacheControl] = SecurityHeaders.noStore.value
      }
      return request.method == .head ? Self.head(of: response) : response
    }

    /// The response to `HEAD`: without a body, and with a length only if the response to `GET` has one.
    private static func head(of response: Response) -> Response {
      var head = response.createHeadResponse()
      head.headers[.contentLength] = response.headers[.contentLength]
      return head
    }

    @concurrent
    private func answer(_ request: Request, _ context: Context) async -> Response {
      switch rules.decision(for: facts(of: request)) {
      case .refuse(let refusal): return Response(refusal.error, to: request)
      case .signIn(let target):
        var response = Response(status: .seeOther, headers: [.location: target])
        let attributes = "Path=/; HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
        if let token = rules.token {
          response.headers[.setCookie] = "\(token.cookieName)=\(token.sessionText); \(attributes)"
        }
        return response
      case .allow: break
      }
      do throws(ServerError) {
        return try await routed(request, context)
      } catch {
        return Response(error, to: request, page: await page(of: error, to: request))
      }
    }

    /// Answers a request that the rules allow.
    @concurrent
    private func routed(
      _ request: Request,
      _ context: Context
    ) async throws(ServerError) -> Response {
      do {
        try server.store.objects.requireInPlace()
        if request.headers.contains(.expect) {
          context.channel.triggerUserOutboundEvent(RequestRules.BodyWanted(), promise: nil)
        }
        let response = try await routes.respond(to: request, context: context)
        guard response.headers[.contentType] == nil else { return response }
        // The router's own answers have no body.
        switch response.status {
        case .notFound: throw methods.error(for: request.method.rawValue, request.uri.path)
        case .contentTooLarge: throw ServerError(.tooLarge, "the request's body is too large")
        default: return response
        }
      } catch let error as ServerError {
        throw error
      } catch is HTTPParserError {
        throw ServerError(.invalidRequest, "the request's body is malformed")
      } catch {
        let failure = ServerError(storeError: error)
        if failure.code == .storeFailed {
          server.logger.error("request failed", metadata: ["error": "\(failure.message)"])
        }
        throw failure
      }
    }

    /// The page of an error; `nil` for a client that wants none, and if the store cannot be read.
    ///
    /// A page names the store, so no request without the token gets one: not those that the rules
    /// refuse, and none to the path of RPC, whose route alone checks the token.
    private func page(of error: ServerError, to request: Request) async -> HTML? {
      guard request.wantsPage, !Self.isRPC(request) else { return nil }
      return try? await server.read { [server] store in
        try store.objects.requireInPlace()
        return ErrorView(error: error).page(try PageFrame(of: store), server)
      }
    }

    private static func isRPC(_ request: Request) -> Bool { request.uri.path == Aria2Routes.path }

    private func facts(of request: Request) -> RequestFacts {
      var facts = RequestFacts()
      facts.area = Self.isRPC(request) ? .rpc : .page
      facts.method = request.method.rawValue
      facts.target = request.head.path ?? ""
      // The first is the authority.
      facts.hosts =
        (request.head.authority.map { [$0] } ?? [])
        + request.headers[values: .host]
      facts.authorizations = request.headers[values: .authorization]
      let name = rules.token?.cookieName ?? ""
      facts.sessions = request.headers[values: .cookie].flatMap { field in
        field.split(separator: ";").compactMap { item in
          let parts = item.split(separator: "=", maxSplits: 1)
          guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else {
            return nil
          }
          return String(parts[1])
        }
      }
      facts.origin = request.headers[.origin]
      facts.fetchSite = request.headers[.fetchSite]
      return facts
    }
  }

  extension Request {
    /// Whether a browser shows the answer as a page.
    fileprivate var wantsPage: Bool {
      (headers[.accept] ?? "").contains("text/html") && !uri.path.hasPrefix("/api/")
    }
  }

  extension Response {
    /// The answer to a request that has failed: JSON, or for a browser the page, or else text.
    init(_ error: ServerError, to request: Request, page: HTML? = nil) {
      var headers: HTTPFields = [:]
      if error.code == .notSignedIn { headers[.wwwAuthenticate] = "Bearer" }
      if !error.allowedMethods.isEmpty {
        headers[.allow] = error.allowedMethods.joined(separator: ", ")
      }
      let status = HTTPResponse.Status(code: error.code.status)
      let (type, text) =
        if let page {
          ("text/html; charset=utf-8", page.text)
        } else if request.wantsPage {
          ("text/plain; charset=utf-8", error.message + "\n")
        } else {
          ("application/json", error.json.text + "\n")
        }
      headers[.contentType] = type
      self.init(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// An answer of JSON.
    init(json: JSONValue, status: HTTPResponse.Status = .ok) {
      var text: [UInt8] = []
      json.writeSafely(to: &text)
      text.append(0x0A)
      self.init(
        status: status,
        headers: [.contentType: "application/json"],
        body: .init(byteBuffer: ByteBuffer(bytes: text))
      )
    }
  }
#endif
