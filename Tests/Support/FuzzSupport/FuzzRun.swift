internal import TestSupport

/// A run over inputs that are made of a corpus.
///
/// Inputs with a new outcome join the corpus, so that the run gets deeper than chance would.
public struct FuzzRun<F: Fuzzer> {
  private var fuzzer: F
  private var random: SplitMix64
  private var inputs: [[UInt8]]
  private var seen: Set<String> = []
  private var pending: [[UInt8]]

  /// The number of different outcomes so far.
  public var outcomeCount: Int { seen.count }

  /// Whether inputs of the corpus are still to come.
  public var hasCorpusLeft: Bool { !pending.isEmpty }

  /// The largest number of inputs in the corpus.
  private static var largest: Int { 4_000 }

  /// Begins with a corpus, whose inputs come first as they are.
  ///
  /// - Parameters:
  ///   - corpus: The inputs to begin with.
  ///   - seed: What all changes follow from.
  ///   - skipped: How many inputs of the corpus were checked by an earlier worker.
  /// - Throws: What the fuzzer's `init` throws.
  public init(corpus: [[UInt8]], seed: UInt64, skipping skipped: Int = 0) throws {
    fuzzer = try F(seed: seed)
    random = SplitMix64(seed: seed ^ 0xC0_FFEE)
    inputs = corpus.isEmpty ? [[]] : corpus
    pending = corpus.dropFirst(skipped).reversed()
  }

  /// The next input.
  public mutating func next() -> [UInt8] {
    if let input = pending.popLast() { return input }
    let input = inputs.randomElement(using: &random) ?? []
    return fuzzer.mutated(input, with: inputs.randomElement(using: &random) ?? [])
  }

  /// Checks an input and notes its outcome.
  ///
  /// - Returns: Whether no input before it had this outcome.
  /// - Throws: What the fuzzer throws.
  public mutating func check(_ input: [UInt8]) async throws -> Bool {
    let outcome = try await fuzzer.check(input)
    // Numbers in messages would make each input a new one.
    guard seen.insert(outcome.filter { !$0.isNumber }).inserted else { return false }
    if inputs.count < Self.largest { inputs.append(input) }
    return true
  }
}
