#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import Foundation
  internal import NIOCore
  internal import NIOHTTP1
  internal import SystemInterface

  extension Fetch {
    /// The length up to which an unwanted body is read to its end, because a new connection would
    /// cost more.
    private static let longestUnwantedBody = 16_384

    /// Sends the request, follows redirects, and passes the response to the sink.
    func run(_ first: PreparedRequest, clients: ClientPool, limiter: RateLimiter) async {
      let outcome: TaskOutcome
      var current = first
      do {
        let isComplete = try await fetch(&current, clients: clients, limiter: limiter)
        outcome = isComplete ? .completed : .cancelled
      } catch let failure as DownloadFailure {
        outcome = .failed(failure)
      } catch {
        noteActivity()
        let route = clients.route(to: current.url)
        let problem = await CertificateProblem(behind: error, of: current.url, by: route, clients)
        let peers = TransferPeers(current.url, through: route.proxy)
        outcome = TaskOutcome(failedWith: error, peers, clients.limits, problem, by: route)
      }
      if gate.settle(outcome) { gate.finish() }
    }

    /// Follows redirects until `prepared` is the last request.
    ///
    /// Returns true when the response is complete, false when the task was ended elsewhere.
    private func fetch(
      _ prepared: inout PreparedRequest,
      clients: ClientPool,
      limiter: RateLimiter
    ) async throws -> Bool {
      while !gate.hasEnded {
        listens()
        let (client, route) = try clients.client(for: prepared)
        noteRequest(to: prepared.url, through: route.proxy)
        let response: HTTPClientResponse
        do {
          response = try await Self.response(to: prepared.clientRequest(by: route), from: client)
        } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
          // The answer of the proxy to CONNECT, as it arrives for a forwarded request.
          return gate.receive(ResponseHead(status: 407, fields: [], url: prepared.url.text))
        }
        noteActivity()
        guard response.status.code >= 200 else {
          throw DownloadFailure(
            .badResponse,
            "the server sent no final response (\(response.status.code))"
          )
        }
        guard prepared.followsRedirects, let location = response.redirectLocation else {
          guard gate.receive(ResponseHead(response, from: prepared.url)) else { return false }
          return try await deliver(response.body, limiter)
        }
        let decision = RedirectDecision(
          prepared,
          to: location,
          setCookies: response.headers["Set-Cookie"]
        )
        switch decision {
        case .follow(let next): prepared = next
        case .refuse(let reason): throw DownloadFailure(.badRedirect, reason)
        }
        try await discard(response)
      }
      return false
    }

    /// Sends a request, and repeats it without a delay while an ``UnansweredRequest`` permits it.
    ///
    /// The pool uses no connection that has ended, so the next one is another. The idle time is that of all
    /// repetitions together.
    ///
    /// - Throws: An ``UnansweredRequest`` after the last repetition, or the error of the client.
    private static func response(
      to request: HTTPClientRequest,
      from client: HTTPClient
    ) async throws -> HTTPClientResponse {
      var budget = RepetitionBudget()
      while true {
        do {
          return try await client.execute(request, deadline: .distantFuture)
        } catch {
          // A request whose task is cancelled ends with an error of a connection, too.
          guard !Task.isCancelled, let cause = UnansweredRequest(error) else { throw error }
          guard budget.spend(on: cause) else { throw cause }
        }
      }
    }

    private func deliver(
      _ body: HTTPClientResponse.Body,
      _ limiter: RateLimiter
    ) async throws -> Bool {
      var pieces = body.makeAsyncIterator()
      while true {
        listens()
        guard let piece = try await pieces.next() else { return true }
        noteActivity()
        guard await deliver(piece, limiter) else { return false }
      }
    }

    /// Passes bytes to the sink; under a rate limit in small parts, so that the sink does not
    /// receive many at once after a long wait.
    private func deliver(_ piece: ByteBuffer, _ limiter: RateLimiter) async -> Bool {
      var start = 0
      while start < piece.readableBytes {
        let rest = piece.readableBytes - start
        let byteCount = limiter.isLimited ? min(rest, RateLimiter.partLength) : rest
        await limiter.sleep(for: byteCount) { !gate.hasEnded }
        let part = piece.readableBytesUInt8Span.extracting(start..<start + byteCount)
        guard gate.receive(part) else { return false }
        start += byteCount
      }
      return true
    }

    private func discard(_ response: HTTPClientResponse) async throws {
      guard let text = response.headers.first(name: "Content-Length"), let length = Int(text),
        length <= Self.longestUnwantedBody
      else { return }
      listens()
      for try await _ in response.body { listens() }
      noteActivity()
    }
  }

  extension CertificateProblem {
    /// Finds why the certificate of a server was rejected; `nil` if the error is about no certificate,
    /// or if the server cannot be asked.
    ///
    /// A server behind a SOCKS proxy is not asked.
    fileprivate init?(
      behind error: any Error,
      of url: RequestURL,
      by route: Route,
      _ clients: ClientPool
    ) async {
      guard let rejection = CertificateRejection(error), let tls = clients.tls,
        [nil, .http].contains(route.proxy?.kind),
        let certificate = await CertificateProbe(
          url: url,
          tls: tls,
          proxy: route.proxy,
          address: clients.address(for: url)?.address,
          localAddress: clients.localAddress,
          timeLimit: clients.probeTimeLimit
        )
        .certificate()
      else { return nil }
      self.init(of: certificate, isForOtherHost: rejection == .otherHost, now: Date())
    }
  }

  extension PreparedRequest {
    /// Creates the client's request.
    fileprivate func clientRequest(by route: Route) -> HTTPClientRequest {
      let connection = connection(by: route)
      var request = HTTPClientRequest(url: connection.url)
      request.method = HTTPMethod(rawValue: method.rawValue)
      let internalNames = [RequestTargetHandler.field, RequestTargetHandler.hostField]
        .map { $0.lowercased() }
      let own = fields.filter { !internalNames.contains($0.name.lowercased()) }
      for field in connection.fields + own {
        request.headers.add(name: field.name, value: field.value)
      }
      // Some servers refuse requests without a user agent.
      if !request.headers.contains(name: "User-Agent") {
        request.headers.add(name: "User-Agent", value: ProcessInfo.processInfo.processName)
      }
      return request
    }
  }

  extension HTTPClientResponse {
    /// The target of a redirect; `nil` for any other response.
    fileprivate var redirectLocation: String? {
      guard RedirectDecision.statuses.contains(Int(status.code)),
        let location = headers.first(name: "Location"), !location.isEmpty
      else { return nil }
      return location
    }
  }

  extension ResponseHead {
    /// The head of a response.
    ///
    /// Fields of one name are joined by commas (RFC 9110, 5.3).
    fileprivate init(_ response: HTTPClientResponse, from url: RequestURL) {
      var fields: [String: HeaderField] = [:]
      for (name, value) in response.headers {
        let key = name.lowercased()
        if let first = fields[key]?.value {
          fields[key]?.value = "\(first), \(value)"
        } else {
          fields[key] = HeaderField(name: name, value: value)
        }
      }
      self.init(
        status: Int(response.status.code),
        fields: fields.values.sorted { $0.name < $1.name },
        url: url.text
      )
    }
  }

  extension RateLimiter {
    /// The longest sleep: short enough to notice a new limit or a cancellation soon.
    private static let longestSleep = Duration.milliseconds(50)

    /// Charges bytes to the rate limit and waits until it allows them, or until `goesOn` is false.
    fileprivate func sleep(for byteCount: Int, while isActive: () -> Bool) async {
      charge(byteCount)
      var delay = delay
      while delay > .zero, isActive() {
        // A cancelled sleep returns immediately. Then the task has ended and `goesOn` is false.
        try? await Task.sleep(for: min(delay, Self.longestSleep))
        delay = self.delay
      }
    }
  }
#endif
