/// A fuzzer of the readers of resume data, which mutates property lists.
public struct ResumeDataFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "resume-data"

  /// The description for `--help`.
  public static let summary = "Checks the readers of resume data with mutated property lists."

  private var mutator: Mutator

  /// Creates a fuzzer whose mutations are determined by a seed.
  public init(seed: UInt64) {
    mutator = Mutator(seed: seed)
  }

  /// Mutates values, tags or bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Checks the properties of resume data for an input.
  ///
  /// - Throws: ``ResumeDataProperties/Violation``.
  public func check(_ input: [UInt8]) throws -> String {
    try ResumeDataProperties.check(input)
  }
}
