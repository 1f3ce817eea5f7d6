import FaultServer
import Foundation
import TestSupport

/// tinyproxy on 127.0.0.1, with the user `me` and the password `s3cret`.
///
/// It stops when it is released.
final class TinyProxy: Sendable {
  struct Failure: Error {
    var message: String
  }

  private static let program = "/usr/bin/tinyproxy"

  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

  let port: UInt16
  private let folder: TemporaryFolder
  private let process: Process

  /// Starts the proxy.
  ///
  /// - Parameter tunnelPort: The only port to which it opens tunnels.
  /// - Throws: ``Failure``, or an error of Foundation.
  init(tunnelPort: UInt16 = 443) async throws {
    folder = try TemporaryFolder()
    // Another process may take the port in the meantime.
    for _ in 0..<5 {
      let server = try FaultServer()
      let port = server.port
      server.stop()
      let configuration = """
        Port \(port)
        Listen 127.0.0.1
        Timeout 3600
        LogFile "\(folder.path("log"))"
        LogLevel Info
        MaxClients 40
        BasicAuth me s3cret
        ConnectPort \(tunnelPort)

        """
      let process = Process()
      process.executableURL = URL(filePath: Self.program)
      process.arguments = ["-d", "-c", try folder.makeFile("conf-\(port)", configuration)]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.start()
      let deadline = ContinuousClock.now.advanced(by: hangLimit)
      while process.isRunning, ContinuousClock.now < deadline {
        let log = try? String(contentsOfFile: folder.path("log"), encoding: .utf8)
        if log?.contains("Accepting connections.") == true {
          (self.port, self.process) = (port, process)
          return
        }
        try await Task.sleep(for: .milliseconds(10))
      }
      process.terminate()
    }
    throw Failure(message: "tinyproxy does not start")
  }

  deinit {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The URL of the proxy, with credentials.
  var url: String { "http://me:s3cret@127.0.0.1:\(port)" }

  /// The request lines so far.
  var requests: [String] {
    let text = (try? String(contentsOfFile: folder.path("log"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      line.contains("Request (") ? line.split(separator: "): ").last.map(String.init) : nil
    }
  }
}
