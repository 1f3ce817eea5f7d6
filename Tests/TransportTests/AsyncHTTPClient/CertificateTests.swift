#if AsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import Foundation
  import TestSupport
  import Testing

  @testable import DownloadAsyncHTTPClient

  /// What is said about a rejected certificate.
  @Suite(.timeLimit(.minutes(10)))
  struct CertificateTests {
    private static let reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    private func failure(
      of certificate: String,
      trusting trusted: String? = nil,
      host: String = "127.0.0.1"
    ) async throws -> (failure: DownloadFailure?, server: TLSServer) {
      let folder = try TemporaryFolder()
      let server = try TLSServer(certificate: certificate) { HTTP1Conversation(Self.reply) }
      var connection = ConnectionSettings()
      connection.certificateAuthorities = try trusted.map {
        try TestCertificate.write($0, to: folder.path)
      }
      // The certificate may take minutes to arrive, a twelfth of this.
      let transport = try AsyncHTTPClientTransport(
        idleTimeout: hangLimit * 12,
        connection: connection
      )
      let sink = RecordingSink()
      let url = "https://\(host):\(server.port)/x"
      _ = transport.start(TaskRequest(url: url, recordID: "r"), sink: sink)
      guard case .failed(let failure) = await sink.outcome() else { return (nil, server) }
      return (failure, server)
    }

    @Test(
      arguments: [
        (["a.example"], [], "a.example", true), (["A.example."], [], "a.EXAMPLE", true),
        (["a.example"], [], "b.example", false), (["a.example"], [], "a.example.b", false),
        (["*.example.com"], [], "a.example.com", true),
        (["*.example.com"], [], "a.b.example.com", false),
        (["*.example.com"], [], "example.com", false), (["*.com"], [], "example.com", false),
        (["*.example.com"], [], ".example.com", false), (["*"], [], "example", false),
        // Its lower case is an ASCII letter.
        (["\u{212A}.example.com"], [], "k.example.com", false),
        (["a*.example.com"], [], "ab.example.com", false), (["*.0.0.1"], [], "127.0.0.1", false),
        ([], [[127, 0, 0, 1]], "127.0.0.1", true), ([], [[127, 0, 0, 1]], "127.0.0.2", false),
        ([], [[127, 0, 0, 1]], "a.example", false),
        (["a.example"], [[127, 0, 0, 1]], "127.0.0.1", true),
        (["127.0.0.1"], [], "127.0.0.1", false),
        ([], [Array(repeating: 0, count: 15) + [1]], "[::1]", true),
        ([], [Array(repeating: 0, count: 15) + [1]], "::2", false),
        // NIOSSL has compared the common name.
        ([], [], "a.example", true),
      ] as [([String], [[UInt8]], String, Bool)]
    )
    func `the names of a certificate are compared with the host and never with the connection`(
      hosts: [String],
      addresses: [[UInt8]],
      host: String,
      isContained: Bool
    ) {
      #expect(CertificateNames(hosts: hosts, addresses: addresses).contain(host) == isContained)
    }

    @Test(
      arguments: [
        (
          TestCertificate.pem, nil,
          "the certificate of HOST is not trusted, because it is self-signed"
        ),
        (
          TestCertificate.issued, nil,
          "the certificate of HOST is not trusted, because its issuer is unknown"
        ), (TestCertificate.expired, nil, "the certificate of HOST expired on 2020-11-25"),
        (
          TestCertificate.expired, TestCertificate.expired,
          "the certificate of HOST expired on 2020-11-25"
        ),
        (
          TestCertificate.early, TestCertificate.early,
          "the certificate of HOST is valid from 2100-01-01 on; check the clock of this machine"
        ),
        (
          TestCertificate.other, TestCertificate.other,
          "the certificate is for other.example, www.other.example, not for 127.0.0.1"
        ),
      ] as [(String, String?, String)]
    )
    func `the reason why a certificate is rejected is named, and nothing is sent to the server`(
      _ certificate: String,
      _ trusted: String?,
      _ message: String
    ) async throws {
      let (failure, server) = try await failure(of: certificate, trusting: trusted)
      #expect(failure?.code == .insecure)
      #expect(
        failure?.message == message.replacing("HOST", with: "127.0.0.1 port \(server.port)")
      )
      #expect(server.peers.isEmpty)
    }

    @Test func `a certificate of another host is named for a host with a name`() async throws {
      let failure = try await failure(
        of: TestCertificate.other,
        trusting: TestCertificate.other,
        host: "localhost"
      ).failure
      #expect(failure?.message.hasSuffix("www.other.example, not for localhost") == true)
      #expect(failure?.detail == .otherHostName)
    }

    @Test func `a trusted certificate is accepted`() async throws {
      let (failure, server) = try await failure(
        of: TestCertificate.pem,
        trusting: TestCertificate.pem
      )
      #expect(failure == nil && server.peers.count == 1)
    }

    @Test(
      arguments: [
        (CertificateProblem.otherHosts([]), "the certificate is for no host, not for h.example"),
        (
          .otherHosts(["a", "b", "c", "d", "e"]),
          "the certificate is for a, b, c and 2 more, not for h.example"
        ),
      ]
    )
    func `a list of names is short`(_ problem: CertificateProblem, _ message: String) throws {
      let peers = TransferPeers(try RequestURL("https://h.example/"))
      let failure = peers.failure(.insecure, .certificate(problem))
      #expect(failure.message == message)
      // Without a name, no URL can be used.
      #expect(failure.detail == (problem == .otherHosts([]) ? nil : .otherHostName))
    }

    @Test func `damaged certificates are no self-signed ones, and crash nothing`() {
      var random = SplitMix64(seed: 1)
      let whole: [UInt8] = [0x30, 0x0C, 0x30, 0x0A] + [2, 0, 48, 0, 48, 0, 48, 0, 48, 0]
      #expect(CertificateFacts.isSelfSigned(whole))
      for _ in 0..<20_000 {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] =
            UInt8.random(in: 0...255, using: &random)
        }
        _ = CertificateFacts.isSelfSigned(
          Array(bytes.prefix(Int.random(in: 0...20, using: &random)))
        )
      }
      #expect(!CertificateFacts.isSelfSigned([]))
      #expect(!CertificateFacts.isSelfSigned([0x30, 0x84, 255, 255, 255, 255]))
    }
  }
#endif
