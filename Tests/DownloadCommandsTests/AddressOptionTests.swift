import FaultServer
import Foundation
import TestSupport
import Testing

/// `--tls-min`, `-4`, `-6`, `--interface` and `--resolve`.
@Suite(.timeLimit(.minutes(10)))
struct AddressOptionTests: ToolSuite {
  let fixture: ToolFixture

  init() throws {
    fixture = try ToolFixture()
    server.route("/a", Resource(.text("a")))
  }

  @Test(arguments: [
    ["--tls-min", "1.3"], ["-4"], ["--ipv6"], ["--interface", "127.0.0.1"],
    ["--resolve", "host.invalid:80:127.0.0.1"],
    ["--pinned-key", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
  ])
  func `URLSession says that it has no such setting before a request`(
    _ options: [String]
  ) async throws {
    for command in ["get", "add"] {
      let process = try DLStoreProcess(
        [command, "--transport", "urlsession", server.url("/a")] + options,
        store: store,
        in: folder.path
      )
      #expect(try await process.status() == 64)
      #expect(process.messages.contains("URLSession has no setting for"), "\(process.messages)")
    }
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [
    (["-4", "-6"], "cannot be combined"), (["--interface", "eth0"], "is not an IPv4"),
    (["-6", "--interface", "127.0.0.1"], "not an address of that family"),
    (["--resolve", "a:80:fe80::1%eth0"], "IPv6 address: zones, such as %eth0, are not supported."),
    (["--resolve", "a:b"], "is not HOST:PORT:ADDRESS"), (["--tls-min", "1.1"], "tls-min"),
    (["--pinned-key", "sha256//AAAA"], "32 bytes in Base64"),
  ])
  func `a value that cannot be used is a usage error`(
    _ options: [String],
    _ expected: String
  ) async throws {
    let arguments = ["get", server.url("/a")] + options
    let process = try DLStoreProcess(arguments, store: store, in: folder.path)
    #expect(try await process.status() == 64)
    #expect(process.messages.contains(expected), "\(process.messages)")
  }

  #if AsyncHTTPClient
    @Test func `a name is resolved as the option says`() async throws {
      let result = try await dlstore(
        "get",
        "-q",
        "-4",
        "--transport",
        "async-http-client",
        "--resolve",
        "host.invalid:\(server.port):127.0.0.1",
        "http://host.invalid:\(server.port)/a"
      )
      #expect(result.status == 0, "\(result.messages)")
      #expect(server.requests.map { $0["Host"] } == ["host.invalid:\(server.port)"])
    }
  #endif
}
