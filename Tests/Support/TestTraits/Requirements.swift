public import Testing

/// The requirements that a test proves, by their ids in `docs/predecessors.md`.
///
/// The ids appear in the output when the test fails. `PredecessorTableTests` reads them from the
/// sources and compares them with the page, so an id is written as a string literal:
///
///     @Test(.requirements("ZF9", "MO6")) func `a file is in place before the event`() { … }
public struct Requirements: TestTrait {
  /// The ids, such as `ZF9`.
  public let ids: [String]

  /// A comment with the ids, which Swift Testing prints when the test fails.
  public var comments: [Comment] {
    [Comment(rawValue: "Requirements: \(ids.joined(separator: ", "))")]
  }
}

extension Trait where Self == Requirements {
  /// Names the requirements that a test proves.
  public static func requirements(_ ids: String...) -> Self { Requirements(ids: ids) }
}
