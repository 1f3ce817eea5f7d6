/// Mutates scripts of responses and lets an engine download from them over a socket, with the
/// transport of this build.
public struct HTTPSocketFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "http-socket"

  /// The description of the fuzzer.
  public static let summary = "Sends mutated responses to an engine over a socket."

  /// Sessions reserve more address space than they use.
  public static let memoryLimit: Int? = 8 << 20

  private var mutator: ResponseMutator
  private let download: SocketDownload

  /// Creates a fuzzer with a seed.
  ///
  /// - Throws: A system error when the folder or the socket cannot be created.
  public init(seed: UInt64) throws {
    mutator = ResponseMutator(seed: seed)
    download = try SocketDownload()
  }

  /// Mutates responses, fields, values, bodies and bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Runs an engine until the download has ended, and checks the same properties as
  /// ``HTTPResponseFuzzer/check(_:)``.
  ///
  /// - Throws: `FuzzViolation`, or an error of the engine or the store.
  public func check(_ input: [UInt8]) async throws -> String {
    try await download.run(ResponseScript(input))
  }
}
