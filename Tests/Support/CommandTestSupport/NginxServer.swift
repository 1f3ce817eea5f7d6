public import FaultServer
internal import Foundation
internal import TestSupport

/// nginx on 127.0.0.1: an independent implementation of HTTP/2 and TLS, with a certificate made for
/// it.
///
/// It stops when it is released.
public final class NginxServer: Sendable {
  /// The reason that the server did not start.
  public struct Failure: Error {
    /// The reason, with the output of the programs.
    public var message: String
  }

  private static let programs = (nginx: "/usr/sbin/nginx", openssl: "/usr/bin/openssl")

  /// Whether nginx and openssl are installed.
  public static var isInstalled: Bool {
    [programs.nginx, programs.openssl].allSatisfy(FileManager.default.isExecutableFile)
  }

  /// The port that the server listens on.
  public let port: UInt16
  /// The only certificate that a client should trust, in PEM: the server's own if self-signed, else
  /// the authority's.
  public var certificate: String {
    kind == .selfSigned ? "\(folder)/certificate.pem" : "\(folder)/authority.pem"
  }
  private let kind: ServerCertificate
  private let folder: String
  private let process: Process

  /// Starts the server.
  ///
  /// - Parameters:
  ///   - files: Its files, by path without the leading slash.
  ///   - kind: Its certificate, for `localhost`.
  ///   - clients: A PEM file with the authority of the certificates that clients must have; `nil` if
  ///     they need none.
  ///   - count: The bytes after which a request without a range gets no more than 4 KiB a second;
  ///     `nil` for no limit.
  ///   - requestCount: The requests after which it ends a connection; `nil` for its default.
  /// - Throws: ``Failure``.
  public init(
    files: [String: Body],
    certificate kind: ServerCertificate = .selfSigned,
    requiringClientsOf clients: String? = nil,
    slowAfter count: Int? = nil,
    requestsPerConnection requestCount: Int? = nil
  ) async throws {
    self.kind = kind
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "nginx-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: "\(folder)/www",
      withIntermediateDirectories: true
    )
    for (name, body) in files { try body.write(toFile: "\(folder)/www/\(name)") }
    try await kind.make(in: folder, Self.programs.openssl)
    // Another process may take the port in the meantime.
    for _ in 0..<5 {
      let port = try Self.freePort()
      let text = Self.configuration(folder, port, clients, slowAfter: count, requestCount)
      try Data(text.utf8).write(to: URL(filePath: "\(folder)/nginx.conf"))
      if let process = try await Self.started(in: folder, port: port) {
        self.port = port
        self.process = process
        return
      }
    }
    let log = try? String(contentsOfFile: "\(folder)/error.log", encoding: .utf8)
    throw Failure(message: "nginx does not start: \(log ?? "")")
  }

  deinit {
    // The server may have inherited a signal mask that blocks other signals.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Returns the absolute URL of a file.
  public func url(_ name: String) -> String { "https://localhost:\(port)/\(name)" }

  /// The requests answered so far, as `HTTP/2.0 206 /file bytes=10-`.
  public var log: [String] {
    let text = (try? String(contentsOfFile: "\(folder)/access.log", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// Waits for requests in ``log``.
  ///
  /// The server notes a request after its last byte, so the client may have ended before.
  ///
  /// - Parameter isComplete: Returns whether the requests are those to wait for.
  /// - Returns: The requests answered so far.
  /// - Throws: ``Failure`` with these after ``hangLimit``.
  public func requests(until isComplete: ([String]) -> Bool) async throws -> [String] {
    let deadline = ContinuousClock.now.advanced(by: hangLimit)
    while true {
      let requests = log
      if isComplete(requests) { return requests }
      guard ContinuousClock.now < deadline else {
        throw Failure(message: "requests are missing in the log of nginx: \(requests)")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  // MARK: -

  private static func freePort() throws -> UInt16 {
    let server = try FaultServer()
    defer { server.stop() }
    return server.port
  }

  /// Starts nginx; returns `nil` if it exits instead of listening.
  private static func started(in folder: String, port: UInt16) async throws -> Process? {
    let process = Process()
    process.executableURL = URL(filePath: programs.nginx)
    process.arguments = ["-p", folder, "-c", "\(folder)/nginx.conf", "-e", "\(folder)/error.log"]
    process.standardError = FileHandle.nullDevice
    try process.start()
    // nginx writes its process id file once it listens.
    while process.isRunning {
      if let text = try? String(contentsOfFile: "\(folder)/nginx.pid", encoding: .utf8),
        text.hasPrefix("\(process.processIdentifier)\n")
      {
        return process
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    return nil
  }

  private static func configuration(
    _ folder: String,
    _ port: UInt16,
    _ clients: String?,
    slowAfter count: Int?,
    _ requestCount: Int?
  ) -> String {
    let verification = clients.map { "ssl_client_certificate \($0); ssl_verify_client on;" } ?? ""
    let limit =
      count.map {
        "location / { if ($http_range = '') { limit_rate_after \($0); limit_rate 4k; } }"
      } ?? ""
    let requests = requestCount.map { "keepalive_requests \($0);" } ?? ""
    return """
      daemon off;
      master_process off;
      pid \(folder)/nginx.pid;
      error_log \(folder)/error.log;
      events { worker_connections 256; }
      http {
        log_format protocol '$server_protocol $status $request_uri $http_range';
        access_log \(folder)/access.log protocol;
        client_body_temp_path \(folder)/t1;
        proxy_temp_path \(folder)/t2;
        fastcgi_temp_path \(folder)/t3;
        uwsgi_temp_path \(folder)/t4;
        scgi_temp_path \(folder)/t5;
        # A client may pause on a busy machine.
        client_header_timeout 1h;
        send_timeout 1h;
        keepalive_timeout 1h;
        server {
          listen 127.0.0.1:\(port) ssl http2;
          ssl_certificate \(folder)/certificate.pem;
          ssl_certificate_key \(folder)/key.pem;
          \(verification)
          \(requests)
          root \(folder)/www;
          \(limit)
        }
      }
      """
  }
}
