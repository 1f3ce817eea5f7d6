internal import SystemInterface

#if AsyncHTTPClient
  internal import DownloadAsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import EngineTestSupport
  internal import TestSupport
#endif

/// Mutates scripts of HTTP/2 frames and sends them to the transport over AsyncHTTPClient.
public struct HTTP2Fuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "http2"

  /// The description of the fuzzer.
  public static let summary = "Sends mutated frames of HTTP/2 to a transport over TLS."

  /// Threads reserve more address space than they use.
  public static let memoryLimit: Int? = 8 << 20

  #if AsyncHTTPClient
    private var mutator: HTTP2Mutator
    private let server: TLSServer
    private let transport: AsyncHTTPClientTransport
    private let script: CurrentScript

    /// Creates a fuzzer with a seed.
    ///
    /// - Throws: An error of the server or the transport.
    public init(seed: UInt64) throws {
      mutator = HTTP2Mutator(seed: seed)
      let script = CurrentScript()
      self.script = script
      server = try TLSServer(protocols: ["h2"]) {
        HTTP2Conversation(script.value.withLock { $0 })
      }
      let folder = try TemporaryFolder()
      var connection = ConnectionSettings()
      connection.certificateAuthorities = try TestCertificate.write(to: folder.path)
      transport = try AsyncHTTPClientTransport(
        idleTimeout: .milliseconds(500),
        connection: connection
      )
    }

    /// Mutates frames, numbers, fields and bytes.
    public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
      mutator.mutated(input, with: other)
    }

    /// Sends a request, to which the server answers with the script.
    ///
    /// - The process does not end.
    /// - The sink receives at most one head, with a final status, and exactly one outcome.
    /// - A completed body has the length that the head declares.
    ///
    /// - Throws: `FuzzViolation`.
    public func check(_ input: [UInt8]) async throws -> String {
      script.value.withLock { $0 = HTTP2Script(input) }
      let sink = RecordingSink()
      _ = transport.start(TaskRequest(url: server.url("/x"), recordID: "r"), sink: sink)
      let outcome = await sink.outcome()
      let record = sink.record
      guard record.violationCount == 0, record.outcomes.count == 1, record.heads.count <= 1 else {
        throw FuzzViolation("the sink was called wrongly: \(record)")
      }
      guard record.heads.allSatisfy({ (200...999).contains($0.status) }) else {
        throw FuzzViolation("the status is \(sink.status)")
      }
      let lengths = record.heads.first?.fields.filter { $0.name.lowercased() == "content-length" }
      if outcome == .completed, let length = lengths?.first.flatMap({ Int64($0.value) }),
        ![204, 304].contains(sink.status), length != record.byteCount
      {
        throw FuzzViolation("\(record.byteCount) bytes instead of \(length)")
      }
      let code = outcome?.failureCode?.rawValue ?? "\(outcome.map { "\($0)" } ?? "")"
      return "\(sink.status / 100) \(record.byteCount > 0) \(code)"
    }
  #else
    /// Creates a fuzzer that does nothing, because the transport was not built.
    public init(seed: UInt64) throws {}

    /// Returns the input.
    public func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] { input }

    /// Does nothing.
    public func check(_ input: [UInt8]) async throws -> String { "not built" }
  #endif
}

#if AsyncHTTPClient
  /// The script of the next connections.
  private final class CurrentScript: Sendable {
    // Held for a copy.
    let value = Mutex(HTTP2Script([]))
  }
#endif
