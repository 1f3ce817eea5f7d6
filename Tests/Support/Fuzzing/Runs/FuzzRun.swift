internal import TestSupport

/// A run over mutated inputs of a corpus.
///
/// Inputs with a new outcome are added to the corpus, so that the run reaches more code than with
/// random changes of the original inputs.
public struct FuzzRun<F: Fuzzer> {
  private var fuzzer: F
  private var random: SplitMix64
  private var inputs: [[UInt8]]
  private var seen: Set<String> = []
  private var pending: [[UInt8]]

  /// The number of different outcomes so far.
  public var outcomeCount: Int { seen.count }

  /// Whether inputs of the initial corpus remain.
  public var hasCorpusLeft: Bool { !pending.isEmpty }

  /// The maximum number of inputs in the corpus.
  private static var maximumInputCount: Int { 4_000 }

  /// Creates a run that checks the corpus first, and then mutated inputs.
  ///
  /// - Parameters:
  ///   - corpus: The initial inputs.
  ///   - seed: The seed of the random generators.
  ///   - skipped: The number of corpus inputs that an earlier worker checked.
  /// - Throws: Any error of the fuzzer's `init(seed:)`.
  public init(corpus: [[UInt8]], seed: UInt64, skipping skipped: Int = 0) throws {
    fuzzer = try F(seed: seed)
    random = SplitMix64(seed: seed ^ 0xC0_FFEE)
    inputs = corpus.isEmpty ? [[]] : corpus
    pending = corpus.dropFirst(skipped).reversed()
  }

  /// Returns the next input.
  public mutating func next() -> [UInt8] {
    if let input = pending.popLast() { return input }
    let input = inputs.randomElement(using: &random) ?? []
    return fuzzer.mutated(input, with: inputs.randomElement(using: &random) ?? [])
  }

  /// Checks an input and records its outcome.
  ///
  /// - Returns: Whether the outcome is new.
  /// - Throws: Any error of the fuzzer's ``Fuzzer/check(_:)``.
  public mutating func check(_ input: [UInt8]) async throws -> Bool {
    let outcome = try await fuzzer.check(input)
    // Ignores digits, because numbers in messages would make every outcome new.
    guard seen.insert(outcome.filter { !$0.isNumber }).inserted else { return false }
    if inputs.count < Self.maximumInputCount { inputs.append(input) }
    return true
  }
}
