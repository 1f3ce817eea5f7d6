import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The built program against nginx over HTTP/2 and TLS, with each transport of the build.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: NginxServer.isInstalled, "needs nginx and openssl: make test-deps")
)
struct HTTP2Tests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func start(
    _ transport: TransportChoice,
    _ arguments: [String],
    trusting certificate: String?
  ) async throws -> DLStoreProcess {
    var environment: [String: String] = [:]
    if let certificate {
      environment["SSL_CERT_FILE"] = certificate
      environment["LD_PRELOAD"] = try await TrustingCurl.library(in: folder.path)
      environment[TrustingCurl.variable] = certificate
    }
    return try DLStoreProcess(
      arguments + ["--transport", transport.rawValue],
      store: folder.path("store"),
      in: folder.path,
      environment: environment
    )
  }

  private func file(_ name: String) -> String { folder.path(name) }

  @Test(arguments: TransportChoice.available)
  func `files are transferred over one HTTP/2 connection`(_ transport: TransportChoice) async throws
  {
    let bodies = (0..<4).map { Body.generated(byteCount: 3_000_000, seed: UInt64(61 + $0)) }
    let files = Dictionary(uniqueKeysWithValues: bodies.enumerated().map { ("f\($0)", $1) })
    let nginx = try await NginxServer(files: files)
    let urls = files.keys.sorted().map { nginx.url($0) }
    let process = try await start(transport, ["get"] + urls, trusting: nginx.certificate)
    #expect(try await process.status() == 0, "\(process.messages)")
    for (index, body) in bodies.enumerated() {
      #expect(body.matches(file: file("f\(index)")))
    }
    let log = try await nginx.requests { $0.count >= 4 }
    #expect(log.sorted() == (0..<4).map { "HTTP/2.0 200 /f\($0) -" })
  }

  /// The server ends each connection after a few requests, while others are in flight.
  @Test(
    .enabled(if: TransportChoice.available.contains(.asyncHTTPClient)),
    arguments: [1, 3]
  )
  func `a request that an ending connection leaves out costs no attempt`(
    _ requestCount: Int
  ) async throws {
    let names = (1...50).map { "f\($0)" }
    let files = Dictionary(uniqueKeysWithValues: names.map { ($0, Body.text($0)) })
    let nginx = try await NginxServer(files: files, requestsPerConnection: requestCount)
    let process = try await start(
      .asyncHTTPClient,
      ["get", "-j", "8", "--max-attempts", "1"] + names.map { nginx.url($0) },
      trusting: nginx.certificate
    )
    #expect(try await process.status() == 0, "\(process.messages)")
    for name in names { #expect(Body.text(name).matches(file: file(name))) }
    let log = try await nginx.requests { $0.count >= names.count }
    #expect(log.sorted() == names.map { "HTTP/2.0 200 /\($0) -" }.sorted())
  }

  @Test(arguments: TransportChoice.available)
  func `a target is sent over HTTP/2 as it was given`(
    _ transport: TransportChoice
  ) async throws {
    let nginx = try await NginxServer(files: ["a": .text("a")])
    let url = nginx.url("a?s=%2b%C9%cc&t=[v1]")
    let process = try await start(transport, ["get", url, "-o", "b"], trusting: nginx.certificate)
    #expect(try await process.status() == 0, "\(process.messages)")
    let log = try await nginx.requests { !$0.isEmpty }
    #expect(log == ["HTTP/2.0 200 /a?s=%2b%C9%cc&t=%5Bv1%5D -"])
  }

  @Test(arguments: TransportChoice.available)
  func `a stopped download resumes with a range`(
    _ transport: TransportChoice
  ) async throws {
    let body = Body.generated(byteCount: 16_000_000, seed: 66)
    // The first transfer cannot end before the test stops it.
    let nginx = try await NginxServer(files: ["a": body], slowAfter: 2_000_000)
    let options = ["get", nginx.url("a"), "--connections", "1"]
    let first = try await start(transport, options, trusting: nginx.certificate)
    let store = file("store")
    // Once the store counts bytes, a checkpoint exists.
    try await first.wait {
      let record = try? RecordStore(at: store, access: .readOnly).record(matching: nginx.url("a"))
      return (record?.received ?? 0) > 0
    }
    first.send(SIGINT)
    #expect(try await first.status() == 130)
    let received = try RecordStore(at: store, access: .readOnly)
      .record(matching: nginx.url("a")).received
    #expect(received > 0 && received < body.byteCount)
    let second = try await start(transport, options, trusting: nginx.certificate)
    #expect(try await second.status() == 0, "\(second.messages)")
    #expect(body.matches(file: file("a")))
    let log = try await nginx.requests { $0.contains { $0.hasPrefix("HTTP/2.0 206 ") } }
    #expect(log.last == "HTTP/2.0 206 /a bytes=\(received)-")
  }

  @Test(.requirements("FK37", "SC15"), arguments: TransportChoice.available)
  func `an untrusted certificate fails the download after one attempt`(
    _ transport: TransportChoice
  ) async throws {
    let nginx = try await NginxServer(files: ["a": .text("a")])
    let process = try await start(transport, ["get", nginx.url("a")], trusting: nil)
    #expect(try await process.status() == 1)
    let record = try RecordStore(at: file("store"), access: .readOnly)
      .record(matching: nginx.url("a"))
    #expect(record.attempts.map(\.failure.code) == [.insecure], "\(record.attempts)")
    #expect(nginx.log.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: file("a")))
  }

  /// The certificate authority is trusted, so that only the certificate itself can be wrong.
  @Test(
    .requirements("FK37", "SC15"),
    arguments: TransportChoice.available,
    ServerCertificate.allCases
  )
  func `a certificate is accepted only if every part of it is valid`(
    _ transport: TransportChoice,
    _ kind: ServerCertificate
  ) async throws {
    let nginx = try await NginxServer(files: ["a": .text("a")], certificate: kind)
    let process = try await start(transport, ["get", nginx.url("a")], trusting: nginx.certificate)
    let isRight = kind == .issued || kind == .selfSigned
    #expect(try await process.status() == (isRight ? 0 : 1), "\(process.messages)")
    let record = try RecordStore(at: file("store"), access: .readOnly)
      .record(matching: nginx.url("a"))
    #expect(record.attempts.map(\.failure.code) == (isRight ? [] : [.insecure]))
    let log = try await nginx.requests { !$0.isEmpty || !isRight }
    #expect(log == (isRight ? ["HTTP/2.0 200 /a -"] : []))
    #expect(FileManager.default.fileExists(atPath: file("a")) == isRight)
  }
}

/// A library that makes libcurl trust a certificate that the system does not.
///
/// On Linux URLSession uses only the system's certificates. Adding one there would add it for every
/// program, so this library changes the calls between URLSession and libcurl.
enum TrustingCurl {
  static let variable = "DLSTORE_TEST_CERTIFICATES"

  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stdlib.h>

    void *curl_easy_init(void) {
      void *(*init)(void) = dlsym(RTLD_NEXT, "curl_easy_init");
      int (*setopt)(void *, int, ...) = dlsym(RTLD_NEXT, "curl_easy_setopt");
      void *easy = init();
      const char *certificates = getenv("\(variable)");
      if (easy && certificates) setopt(easy, 10065 /* CURLOPT_CAINFO */, certificates);
      return easy;
    }
    """

  /// The path of the compiled library.
  static func library(in folder: String) async throws -> String {
    let library = "\(folder)/trusting-curl.so"
    guard !FileManager.default.fileExists(atPath: library) else { return library }
    try Data(source.utf8).write(to: URL(filePath: "\(library).c"))
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["cc", "-shared", "-fPIC", "-o", library, "\(library).c", "-ldl"]
    try await compiler.runToEnd()
    try #require(compiler.terminationStatus == 0, "cc failed to build the library")
    return library
  }
}
