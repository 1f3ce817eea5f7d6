public import FuzzSupport

/// Changes property lists and checks the readers of resume data with them.
public struct ResumeDataFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "resume-data-fuzz"

  /// What the fuzzer does.
  public static let summary = "Feeds changed property lists to the readers of resume data."

  private var mutator: Mutator

  /// Begins at a seed.
  public init(seed: UInt64) {
    mutator = Mutator(seed: seed)
  }

  /// Changes values, tags or bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Reads bytes in every way and checks what comes of it.
  ///
  /// - Throws: ``ResumeDataProperties/Violation``.
  public func check(_ input: [UInt8]) throws -> String {
    try ResumeDataProperties.check(input)
  }
}
