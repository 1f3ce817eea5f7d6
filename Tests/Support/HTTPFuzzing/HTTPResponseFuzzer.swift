public import FuzzSupport
internal import Synchronization

/// Changes scripts of responses and has an engine download from them, without a network.
public struct HTTPResponseFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "http-response-fuzz"

  /// What the fuzzer does.
  public static let summary = "Has the engine download from servers that send changed responses."

  /// A store keeps a history, so it is made again after so many downloads.
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

    /// Forgets the store after a violation, which may have left something in it.
    func forget() { download = nil }
  }

  private var mutator: ResponseMutator
  private let downloads = Downloads()

  /// Begins at a seed.
  public init(seed: UInt64) {
    mutator = ResponseMutator(seed: seed)
  }

  /// Changes responses, fields, values, bodies and bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Runs an engine until the download has ended, and checks what has come of it.
  ///
  /// - A finished file has the bytes of one entity that the server sent, with a length that it named,
  ///   and lies in its folder under a harmless name.
  /// - A download that has failed says why, and has no file under its name.
  /// - The record never counts a byte that its file does not have.
  /// - No other origin gets a secret, and no message has one.
  /// - The engine comes to its end.
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
