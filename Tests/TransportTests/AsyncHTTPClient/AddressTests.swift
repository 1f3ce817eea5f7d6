#if AsyncHTTPClient
  import DownloadAsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
  import TestSupport
  import Testing

  /// The addresses that connections are made to, and from.
  @Suite(.timeLimit(.minutes(10)))
  struct AddressTests {
    private let server: FaultServer

    init() throws {
      server = try FaultServer()
      server.route("/a", Resource(.text("a")))
    }

    private func url(_ host: String) -> String { "http://\(host):\(server.port)/a" }

    private func outcome(
      _ url: String,
      _ change: (inout ConnectionSettings) throws -> Void
    ) async throws -> TaskOutcome? {
      var connection = ConnectionSettings()
      try change(&connection)
      let transport = try AsyncHTTPClientTransport(idleTimeout: hangLimit, connection: connection)
      let sink = RecordingSink()
      _ = transport.start(TaskRequest(url: url, recordID: "r"), sink: sink)
      return await sink.outcome()
    }

    @Test func `an address replaces those of the name for its port alone`() async throws {
      let name = "host.invalid"
      let here = try HostAddress("Host.invalid:\(server.port):127.0.0.1")
      let found = try await outcome(url(name)) { $0.hostAddresses = [here] }
      #expect(found == .completed)
      #expect(server.requests.map { $0["Host"] } == ["\(name):\(server.port)"])
      let elsewhere = try HostAddress("\(name):1:127.0.0.1")
      let other = try await outcome(url(name)) { $0.hostAddresses = [elsewhere] }
      #expect(other?.failureCode == .cannotFindHost)
    }

    @Test func `only addresses of the family are connected to`() async throws {
      #expect(try await outcome(url("127.0.0.1")) { $0.addressFamily = .ipv4 } == .completed)
      #expect(try await outcome(url("localhost")) { $0.addressFamily = .ipv4 } == .completed)
      let none = try await outcome(url("127.0.0.1")) { $0.addressFamily = .ipv6 }
      #expect(
        none
          == .failed(
            DownloadFailure(
              .cannotConnect,
              "127.0.0.1 has no IPv6 address",
              detail: .addressFamily
            )
          )
      )
    }

    @Test func `connections are made from the given address`() async throws {
      let own = try await outcome(url("127.0.0.1")) { $0.localAddress = "127.0.0.1" }
      #expect(own == .completed)
      // An address for documentation, which no machine has.
      let other = try await outcome(url("127.0.0.1")) { $0.localAddress = "192.0.2.1" }
      #expect(other?.failureCode == .cannotConnect, "\(String(describing: other))")
    }

    @Test(arguments: [
      "example.com:443:192.0.2.7", "EXAMPLE.com:443:[2001:db8::1]", "b.example:80:2001:db8::1",
    ])
    func `a host, a port and an address are read`(_ text: String) throws {
      let address = try HostAddress(text)
      #expect(address.host == address.host.lowercased())
      #expect([443, 80].contains(address.port) && !address.address.contains("["))
    }

    @Test(arguments: [
      "", "example.com", "example.com:443", "example.com:443:", "example.com:0:192.0.2.7",
      "example.com:70000:192.0.2.7", "example.com:443:a.b", "example.com:443:192.0.2.256",
      "example.com:443:192.0.2.7,192.0.2.8", "192.0.2.1:443:192.0.2.7", ":443:192.0.2.7",
      "*:443:192.0.2.7", "example.com:443:192.0.2.7:80", "example.com:443:[192.0.2.7:80]",
    ])
    func `any other text is refused`(_ text: String) {
      #expect(throws: HostAddress.ParseError.self) { try HostAddress(text) }
    }
  }
#endif
