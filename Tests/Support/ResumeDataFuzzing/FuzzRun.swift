/// A run over inputs that are made of a corpus.
///
/// Inputs that are taken in a way that was not seen before join the corpus, so that the run gets
/// deeper than chance would.
public struct FuzzRun {
  private var mutator: Mutator
  private var inputs: [[UInt8]]
  private var seen: Set<String> = []
  private var pending: [[UInt8]]

  /// In how many ways inputs were taken so far.
  public var outcomeCount: Int { seen.count }

  /// Whether inputs of the corpus are still to come.
  public var hasCorpusLeft: Bool { !pending.isEmpty }

  /// How many inputs the corpus may get.
  private static let largest = 4_000

  /// Begins with a corpus, whose inputs come first as they are.
  public init(corpus: [[UInt8]], seed: UInt64) {
    mutator = Mutator(seed: seed)
    inputs = corpus.isEmpty ? [[]] : corpus
    pending = corpus.reversed()
  }

  /// The next input.
  public mutating func next() -> [UInt8] {
    if let input = pending.popLast() { return input }
    let input = inputs[mutator.number(inputs.count)]
    return mutator.mutated(input, with: inputs[mutator.number(inputs.count)])
  }

  /// Notes how an input was taken.
  ///
  /// - Returns: Whether no input before it was.
  @discardableResult
  public mutating func note(_ outcome: String, of input: [UInt8]) -> Bool {
    // Numbers in messages would make each input a new one.
    guard seen.insert(outcome.filter { !$0.isNumber }).inserted else { return false }
    if inputs.count < Self.largest { inputs.append(input) }
    return true
  }
}
