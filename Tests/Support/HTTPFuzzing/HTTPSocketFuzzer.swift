public import FuzzSupport

/// Changes scripts of responses and has an engine download from them over a socket, by the transport
/// of this build.
public struct HTTPSocketFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "http-socket-fuzz"

  /// What the fuzzer does.
  public static let summary = "Sends changed responses to an engine over a socket."

  /// Sessions reserve more addresses than they use.
  public static let memoryLimit: Int? = 8 << 20

  private var mutator: ResponseMutator
  private let download: SocketDownload

  /// Begins at a seed.
  ///
  /// - Throws: An error of the system when there is no folder or no socket.
  public init(seed: UInt64) throws {
    mutator = ResponseMutator(seed: seed)
    download = try SocketDownload()
  }

  /// Changes responses, fields, values, bodies and bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Runs an engine until the download has ended, and checks what ``HTTPResponseFuzzer/check(_:)``
  /// checks.
  ///
  /// - Throws: `FuzzViolation`, or an error of the engine or the store.
  public func check(_ input: [UInt8]) async throws -> String {
    try await download.run(ResponseScript(input))
  }
}
