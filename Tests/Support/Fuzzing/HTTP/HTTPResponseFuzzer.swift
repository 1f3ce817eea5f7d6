internal import SystemInterface

/// Mutates scripts of responses and lets an engine download from them, without a network.
public struct HTTPResponseFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "http-response"

  /// The description of the fuzzer.
  public static let summary = "Downloads from simulated servers that send mutated responses."

  /// A store keeps a history, so it is created again after this many downloads.
  private static let storeLife = 500

  private final class Downloads {
    private var download: ScriptedDownload?
    private var count = 0

    func next() throws -> ScriptedDownload {
      count += 1
      if let download, count % HTTPResponseFuzzer.storeLife != 0 { return download }
      let new = try ScriptedDownload()
      download = new
      return new
    }

    /// Discards the store after a violation, which may have left something in it.
    func forget() { download = nil }
  }

  private var mutator: ResponseMutator
  private let downloads = Downloads()

  /// Creates a fuzzer with a seed.
  public init(seed: UInt64) {
    mutator = ResponseMutator(seed: seed)
  }

  /// Mutates responses, fields, values, bodies and bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Runs an engine until the download has ended, and checks the result.
  ///
  /// - A finished file has the bytes of one entity that the server sent, with an announced length,
  ///   and lies in its folder under a safe name.
  /// - A failed download has a reason, and no file under its name.
  /// - The record never counts a byte that its file does not have.
  /// - No other origin receives a secret, and no message contains one.
  /// - The engine finishes.
  ///
  /// - Throws: `FuzzViolation`, or an error of the engine or the store.
  public func check(_ input: [UInt8]) throws -> String {
    do {
      return try downloads.next().run(ResponseScript(input))
    } catch {
      downloads.forget()
      throw error
    }
  }
}
