#if AsyncHTTPClient
  import DownloadAsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import TestSupport
  import Testing

  /// Versions of TLS, and the certificate of the client.
  @Suite(.timeLimit(.minutes(10)))
  struct TLSTests {
    private static let reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    private let folder: TemporaryFolder
    private let transport: AsyncHTTPClientTransport

    init() throws {
      folder = try TemporaryFolder()
      let file = try TestCertificate.write(to: folder.path)
      var connection = ConnectionSettings()
      connection.certificateAuthorities = file
      connection.clientCertificate = file
      transport = try AsyncHTTPClientTransport(idleTimeout: hangLimit, connection: connection)
    }

    private func outcome(_ request: TaskRequest) async -> TaskOutcome? {
      let sink = RecordingSink()
      _ = transport.start(request, sink: sink)
      return await sink.outcome()
    }

    @Test(arguments: TLSServer.Version.allCases)
    func `TLS 1.2 is the oldest version`(_ version: TLSServer.Version) async throws {
      let server = try TLSServer(version: version) { HTTP1Conversation(Self.reply) }
      let outcome = await outcome(TaskRequest(url: server.url("/x"), recordID: "r"))
      let isAccepted = version == .tls12 || version == .tls13
      #expect((outcome == .completed) == isAccepted, "\(String(describing: outcome))")
      #expect(server.peers.count == (isAccepted ? 1 : 0))
      if !isAccepted { #expect(outcome?.failureCode == .insecure) }
    }

    @Test(arguments: TLSServer.Version.allCases)
    func `a higher minimum is required of the server`(_ version: TLSServer.Version) async throws {
      let server = try TLSServer(version: version) { HTTP1Conversation(Self.reply) }
      var connection = ConnectionSettings()
      connection.certificateAuthorities = try TestCertificate.write(to: folder.path)
      connection.minimumTLSVersion = .tls13
      let transport = try AsyncHTTPClientTransport(idleTimeout: hangLimit, connection: connection)
      let sink = RecordingSink()
      _ = transport.start(TaskRequest(url: server.url("/x"), recordID: "r"), sink: sink)
      let outcome = await sink.outcome()
      #expect((outcome == .completed) == (version == .tls13), "\(String(describing: outcome))")
      if version != .tls13 { #expect(outcome?.failureCode == .insecure) }
    }

    @Test(arguments: [("localhost", true), ("bank.example", false)])
    func `a certificate for the address of the server is valid for no other host`(
      host: String,
      isValid: Bool
    ) async throws {
      let server = try TLSServer { HTTP1Conversation(Self.reply) }
      // The certificate is for localhost and 127.0.0.1.
      var connection = ConnectionSettings()
      connection.certificateAuthorities = try TestCertificate.write(to: folder.path)
      connection.hostAddresses = [try HostAddress("\(host):\(server.port):127.0.0.1")]
      let transport = try AsyncHTTPClientTransport(idleTimeout: hangLimit, connection: connection)
      let sink = RecordingSink()
      let request = TaskRequest(
        url: "https://\(host):\(server.port)/x",
        recordID: "r",
        headers: [HeaderField(name: "Authorization", value: "Bearer secret")]
      )
      _ = transport.start(request, sink: sink)
      let outcome = await sink.outcome()
      #expect((outcome == .completed) == isValid, "\(String(describing: outcome))")
      // Nothing is sent to another server.
      #expect(server.peers.count == (isValid ? 1 : 0))
      if !isValid { #expect(outcome?.failureCode == .insecure) }
    }

    @Test(arguments: [true, false])
    func `a server with another key than the pinned ones receives no request`(
      isPinned: Bool
    ) async throws {
      let server = try TLSServer { HTTP1Conversation(Self.reply) }
      var connection = ConnectionSettings()
      connection.certificateAuthorities = try TestCertificate.write(to: folder.path)
      connection.pinnedKeys = [
        try PinnedKey("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
      ]
      if isPinned {
        // That of `TestCertificate.pem`, by openssl.
        connection.pinnedKeys.insert(
          try PinnedKey("sha256//ksEo/DbvrC5sRZsoqw3Ep7LME/n6VOpGz3bAPVZ5B2E=")
        )
      }
      let transport = try AsyncHTTPClientTransport(idleTimeout: hangLimit, connection: connection)
      let sink = RecordingSink()
      _ = transport.start(TaskRequest(url: server.url("/x"), recordID: "r"), sink: sink)
      let outcome = await sink.outcome()
      #expect((outcome == .completed) == isPinned, "\(String(describing: outcome))")
      guard !isPinned else { return }
      #expect(
        outcome
          == .failed(
            DownloadFailure(
              .insecure,
              "the key of 127.0.0.1 port \(server.port) is "
                + "sha256//ksEo/DbvrC5sRZsoqw3Ep7LME/n6VOpGz3bAPVZ5B2E=, which is not a pinned one",
              detail: .unpinnedKey
            )
          )
      )
    }

    @Test(arguments: [
      (TLSServer.Version.tls12, ConnectionSettings.TLSVersion.tls13, "does not offer TLS 1.3"),
      (.tls11, .tls12, "offers no newer version of TLS than 1.1"),
    ])
    func `a server with an older version of TLS is named`(
      offered: TLSServer.Version,
      minimum: ConnectionSettings.TLSVersion,
      says: String
    ) async throws {
      let server = try TLSServer(version: offered) { HTTP1Conversation(Self.reply) }
      var connection = ConnectionSettings()
      connection.certificateAuthorities = try TestCertificate.write(to: folder.path)
      connection.minimumTLSVersion = minimum
      let transport = try AsyncHTTPClientTransport(idleTimeout: hangLimit, connection: connection)
      let sink = RecordingSink()
      _ = transport.start(TaskRequest(url: server.url("/x"), recordID: "r"), sink: sink)
      let failure = DownloadFailure(
        .insecure,
        "127.0.0.1 port \(server.port) \(says)",
        detail: minimum == .tls13 ? .tlsVersion : nil
      )
      #expect(await sink.outcome() == .failed(failure))
    }

    @Test func `the client certificate is shown to the origin of the download only`() async throws {
      let other = try TLSServer { HTTP1Conversation(Self.reply) }
      let redirect =
        "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: \(other.url("/x"))\r\n\r\n"
      let server = try TLSServer { HTTP1Conversation(redirect) }
      #expect(await outcome(TaskRequest(url: server.url("/x"), recordID: "r")) == .completed)
      #expect(server.peers.map(\.hasCertificate) == [true])
      #expect(other.peers.map(\.hasCertificate) == [false])
      // A mirror of a download from another origin.
      let mirror = TaskRequest(
        url: other.url("/x"),
        recordID: "r",
        credentialURL: server.url("/x")
      )
      #expect(await outcome(mirror) == .completed)
      #expect(!other.peers.contains { $0.hasCertificate })
      // A download from that origin.
      #expect(await outcome(TaskRequest(url: other.url("/x"), recordID: "r")) == .completed)
      #expect(other.peers.last?.hasCertificate == true)
    }
  }
#endif
