import ArgumentParser
import CommandTestSupport
import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The built program behind tinyproxy, with each transport of the build.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(
    if: NginxServer.isInstalled && TinyProxy.isInstalled,
    "needs nginx, openssl and tinyproxy: make test-deps"
  )
)
struct ProxyTests {
  private let folder: TemporaryFolder
  private let server: FaultServer
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    server = try FaultServer()
    store = folder.path("store")
  }

  private func start(
    _ transport: TransportChoice,
    _ arguments: [String],
    trusting certificate: String? = nil,
    environment: [String: String] = [:]
  ) async throws -> DLStoreProcess {
    var environment = environment
    if let certificate {
      environment["SSL_CERT_FILE"] = certificate
      environment["LD_PRELOAD"] = try await TrustingCurl.library(in: folder.path)
      environment[TrustingCurl.variable] = certificate
    }
    return try DLStoreProcess(
      arguments + ["--transport", transport.rawValue],
      store: store,
      in: folder.path,
      environment: environment
    )
  }

  private func record(_ url: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: url)
  }

  @Test(arguments: TransportChoice.available)
  func `http requests are forwarded with the credentials of the proxy`(
    _ transport: TransportChoice
  ) async throws {
    let proxy = try await TinyProxy()
    let body = Body.generated(byteCount: 300_000, seed: 3)
    server.route("/a", Resource(body))
    server.route("/b", Resource(redirectTo: server.url("/a?x=%20y%c9&t=[1]")))
    let process = try await start(
      transport,
      ["get", server.url("/b"), "-o", "a", "--proxy", proxy.url]
    )
    #expect(try await process.status() == 0, "\(process.messages)")
    #expect(body.matches(file: folder.path("a")))
    #expect(
      proxy.requests == ["/b", "/a?x=%20y%c9&t=%5B1%5D"].map { "GET \(server.url($0)) HTTP/1.1" }
    )
    #expect(server.requests.allSatisfy { $0["Proxy-Authorization"] == nil })
    #expect(!process.messages.contains("s3cret"))
  }

  @Test(arguments: TransportChoice.available)
  func `https requests pass through a tunnel, and resume with the right bytes`(
    _ transport: TransportChoice
  ) async throws {
    let body = Body.generated(byteCount: 8_000_000, seed: 66)
    // The first transfer cannot end before the test stops it.
    let nginx = try await NginxServer(files: ["a": body], slowAfter: 2_000_000)
    let proxy = try await TinyProxy(tunnelPort: nginx.port)
    let options = ["get", nginx.url("a"), "--proxy", proxy.url, "--connections", "1"]
    let first = try await start(transport, options, trusting: nginx.certificate)
    let store = store
    try await first.wait {
      let record = try? RecordStore(at: store, access: .readOnly).record(matching: nginx.url("a"))
      return (record?.received ?? 0) > 0
    }
    first.send(SIGINT)
    #expect(try await first.status() == 130)
    let received = try record(nginx.url("a")).received
    #expect(received > 0 && received < body.byteCount)
    let second = try await start(transport, options, trusting: nginx.certificate)
    #expect(try await second.status() == 0, "\(second.messages)")
    #expect(body.matches(file: folder.path("a")), "the answer to CONNECT is not that of the server")
    // nginx logs a request when it notices its end, that of the first one perhaps after the second.
    let partial = { nginx.log.filter { $0.contains(" 206 ") } }
    try await second.wait { !partial().isEmpty }
    #expect(partial() == ["HTTP/2.0 206 /a bytes=\(received)-"], "\(nginx.log)")
    #expect(Set(proxy.requests) == ["CONNECT localhost:\(nginx.port) HTTP/1.1"])
  }

  #if AsyncHTTPClient
    @Test(arguments: [
      (ServerCertificate.expired, "expired on "), (.otherHost, "is for example.org, not for"),
      (.otherAuthority, "its issuer is unknown"),
    ])
    func `the reason why a certificate is rejected is named behind a proxy, too`(
      _ certificate: ServerCertificate,
      _ reason: String
    ) async throws {
      let nginx = try await NginxServer(files: ["a": .text("a")], certificate: certificate)
      let proxy = try await TinyProxy(tunnelPort: nginx.port)
      let process = try await start(
        .asyncHTTPClient,
        ["get", nginx.url("a"), "--proxy", proxy.url, "--ca-certificate", nginx.certificate]
      )
      #expect(try await process.status() == 1)
      #expect(process.messages.contains(reason), "\(process.messages)")
      #expect(try record(nginx.url("a")).attempts.last?.failure.message.contains(reason) == true)
      #expect(nginx.log.isEmpty)
    }
  #endif

  @Test(arguments: TransportChoice.available, [true, false])
  func `a proxy that requires credentials fails the download without them`(
    _ transport: TransportChoice,
    _ isTunnel: Bool
  ) async throws {
    let nginx = try await NginxServer(files: ["a": .text("a")])
    let proxy = try await TinyProxy(tunnelPort: nginx.port)
    let url = isTunnel ? nginx.url("a") : server.url("/a")
    let process = try await start(
      transport,
      ["get", url, "--proxy", "http://127.0.0.1:\(proxy.port)"],
      trusting: nginx.certificate
    )
    #expect(try await process.status() == 1)
    let failures = try record(url).attempts.map(\.failure)
    #expect(failures.map(\.code) == [.refused], "\(failures)")
    #expect(failures.last?.message.contains("407") == true)
    #expect(server.requests.isEmpty && nginx.log.isEmpty)
  }

  @Test(arguments: TransportChoice.available)
  func `the environment names the proxy and the hosts without one`(
    _ transport: TransportChoice
  ) async throws {
    let proxy = try await TinyProxy()
    server.route("/a", Resource(.text("a")))
    let first = try await start(
      transport,
      ["get", server.url("/a")],
      environment: ["http_proxy": proxy.url]
    )
    #expect(try await first.status() == 0, "\(first.messages)")
    #expect(proxy.requests.count == 1)
    let second = try await start(
      transport,
      ["get", server.url("/a?2"), "-o", "b"],
      environment: ["all_proxy": proxy.url, "NO_PROXY": "example.com,127.0.0.1"]
    )
    #expect(try await second.status() == 0, "\(second.messages)")
    #expect(proxy.requests.count == 1 && server.requests.count == 2)
  }

  @Test(arguments: TransportChoice.available)
  func `a proxy that is not there is retried`(_ transport: TransportChoice) async throws {
    let closed = try ClosedPort()
    let process = try await start(
      transport,
      ["get", server.url("/a"), "--proxy", "127.0.0.1:\(closed.port)", "--max-attempts", "1"]
    )
    #expect(try await process.status() == 69, "no server could be reached")
    #expect(try record(server.url("/a")).attempts.map(\.failure.code) == [.cannotConnect])
    #expect(server.requests.isEmpty)
  }
}

@Suite struct ClientOptionsTests {
  @Test(
    arguments: [
      (["--proxy", "ftp://me:s3cret@h"], "is not a proxy protocol"),
      (["--proxy", "https://me:s3cret@h", "--transport", "async-http-client"], "over TLS"),
      (["--proxy", "socks5://me:s3cret@h", "--transport", "async-http-client"], "SOCKS"),
      (["--client-key", "f", "--transport", "async-http-client"], "--client-certificate"),
      (
        ["--client-certificate", "f", "--transport", "urlsession"], "--transport async-http-client"
      ),
      (["--ca-certificate", "f", "--transport", "urlsession"], "--transport async-http-client"),
      (["--timeout", "0s"], "at least 1ms"), (["--retry-wait", "0"], "at least 1ms"),
      (["--retry-wait", "soon"], "such as 5s or 2m"),
    ]
  )
  func `an option that cannot be honoured is a usage error`(
    arguments: [String],
    reason: String
  ) throws {
    let isBuilt = TransportChoice.available.count == TransportChoice.allCases.count
    guard isBuilt || !arguments.contains("async-http-client") else { return }
    let error = try #require(throws: (any Error).self) { try RunCommand.parse(arguments) }
    #expect(RunCommand.exitCode(for: error).rawValue == 64)
    let message = RunCommand.fullMessage(for: error)
    #expect(message.contains(reason) && !message.contains("s3cret"), "\(message)")
  }

  @Test func `timeouts and waits reach the engine`() throws {
    let limits = try RunCommand.parse(["--retry-wait", "10m", "--timeout", "5s"]).limits
    #expect(limits.engineOptions.retry.base == .seconds(600))
    #expect(limits.engineOptions.retry.cap == .seconds(600))
    #expect(limits.client.timeout.duration == .seconds(5))
    #expect(try RunCommand.parse([]).limits.engineOptions.retry.cap == .seconds(300))
  }
}

#if AsyncHTTPClient
  /// Options that name a file which is not there.
  struct MissingFileTests {
    @Test(
      arguments: ["--ca-certificate", "--client-certificate", "--client-key"],
      [
        ["get", "http://h.invalid/x"], ["run", "--until-idle"],
        ["verify-file", "--all", "--repair"],
      ]
    )
    func `a missing certificate is an error of its own, and nothing is stored`(
      _ option: String,
      _ command: [String]
    ) async throws {
      let folder = try TemporaryFolder()
      let store = folder.path("store")
      let missing = folder.path("none.pem")
      var options = [option, missing]
      if option == "--client-key" {
        options += ["--client-certificate", try folder.makeFile("c.pem", "")]
      }
      let client = ["--transport", "async-http-client"]
      let result = await dlstore(["--store", store] + command + options + client)
      #expect(result.status == .notFound, "\(result.messages)")
      #expect(result.messages == "dlstore: cannot read \(missing): No such file or directory\n")
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  struct InterfaceTests {
    // An address for documentation, which no machine has.
    @Test(arguments: ["192.0.2.1", "2001:db8::1"], [["get", "http://h.invalid/x"], ["run"]])
    func `an address that this machine lacks may come later, so it is no usage error`(
      _ address: String,
      _ command: [String]
    ) async throws {
      let folder = try TemporaryFolder()
      let store = folder.path("store")
      let options = ["--interface", address, "--transport", "async-http-client"]
      let result = await dlstore(["--store", store] + command + options)
      #expect(result.status == .unreachable)
      #expect(
        result.messages
          == "dlstore: --interface: no interface of this machine has the address \(address)\n"
      )
      #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test(arguments: ["127.0.0.1", "0.0.0.0"])
    func `an address of this machine is accepted`(_ address: String) async throws {
      let folder = try TemporaryFolder()
      let server = try FaultServer()
      server.route("/a", Resource(.text("a")))
      let options = [
        "--interface", address, "--transport", "async-http-client", "--output-folder", folder.path,
      ]
      let result = await dlstore(["--store", folder.path("s"), "get", server.url("/a")] + options)
      #expect(result.status == .done, "\(result.messages)")
    }
  }

  /// Certificates from files, which only AsyncHTTPClient accepts on Linux.
  @Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: NginxServer.isInstalled, "needs nginx and openssl: make test-deps")
  )
  struct CertificateOptionTests {
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
    }

    private func get(
      _ url: String,
      _ options: String...
    ) async throws -> (status: Int32, messages: String) {
      let arguments = ["get", url, "--transport", "async-http-client", "--max-attempts", "1"]
      let process = try DLStoreProcess(
        arguments + options,
        store: folder.path("store"),
        in: folder.path
      )
      return (try await process.status(), process.messages)
    }

    @Test func `an authority from a file is trusted, and nothing else`() async throws {
      let nginx = try await NginxServer(files: ["a": .text("a")])
      let other = try await NginxServer(files: ["b": .text("b")])
      let trusted = try await get(nginx.url("a"), "--ca-certificate", nginx.certificate)
      #expect(trusted.status == 0, "\(trusted.messages)")
      let untrusted = try await get(other.url("b"), "--ca-certificate", nginx.certificate)
      #expect(untrusted.status == 1)
      #expect(untrusted.messages.contains("is not trusted"), "\(untrusted.messages)")
    }

    @Test func `a server of --server with another certificate cannot be reached, with advice`()
      async throws
    {
      let nginx = try await NginxServer(files: [:])
      let words = ["--server", nginx.url(""), "list"]
      let untrusted = try DLStoreProcess(words, store: folder.path("store"), in: folder.path)
      #expect(try await untrusted.status() == 69, "\(untrusted.messages)")
      #expect(
        untrusted.messages.contains("name it with --ca-certificate FILE before the command"),
        "\(untrusted.messages)"
      )
      let trusted = try DLStoreProcess(
        ["--ca-certificate", nginx.certificate] + words,
        store: folder.path("store"),
        in: folder.path
      )
      #expect(try await trusted.status() == 69)
      #expect(trusted.messages.contains("is no 'dlstore serve'"), "\(trusted.messages)")
    }

    @Test func `a client certificate identifies the client`() async throws {
      let client = try await NginxServer(files: [:])
      let key = client.certificate.replacing("certificate.pem", with: "key.pem")
      let nginx = try await NginxServer(
        files: ["a": .text("a")],
        requiringClientsOf: client.certificate
      )
      let anonymous = try await get(nginx.url("a"), "--ca-certificate", nginx.certificate)
      #expect(anonymous.status == 1)
      let known = try await get(
        nginx.url("a"),
        "--ca-certificate",
        nginx.certificate,
        "--client-certificate",
        client.certificate,
        "--client-key",
        key
      )
      #expect(known.status == 0, "\(known.messages)")
    }

    @Test func `a key of another certificate is refused at the start, with both files`()
      async throws
    {
      let client = try await NginxServer(files: [:])
      let other = try await NginxServer(files: [:])
      let key = other.certificate.replacing("certificate.pem", with: "key.pem")
      let own = ["--client-certificate", client.certificate, "--client-key", key]
      let result = try await get("https://localhost:1/a", own[0], own[1], own[2], own[3])
      #expect(result.status == 64)
      let text =
        "the key in \(key) does not belong to the first certificate in \(client.certificate)"
      #expect(result.messages.contains(text), "\(result.messages)")
      #expect(!FileManager.default.fileExists(atPath: folder.path("store")))
    }

    @Test(arguments: ["--ca-certificate", "--client-certificate"])
    func `a file without certificates is a usage error`(option: String) async throws {
      let file = try folder.makeFile("empty.pem", "nothing")
      let result = try await get("https://localhost:1/a", option, file)
      #expect(result.status == 64)
      #expect(result.messages.contains("\(file) is not a readable PEM file with certificates"))
    }
  }
#endif
