/// A difference between two schemas, with its effect on stores.
public struct SchemaChange: Sendable, Hashable {
  /// The rule under which the difference falls.
  public var rule: SchemaRule
  /// The part that has changed: a model, a field such as `Note.text`, an index such as
  /// `Note(rank, title)`, or the version.
  public var subject: String
  /// The effect in a sentence, without the subject.
  public var effect: String

  /// The effect on the stores that exist.
  public var verdict: SchemaVerdict { rule.verdict }
}

extension SchemaChange: CustomStringConvertible {
  /// The change in one line, such as `Note.text: safe: the field was renamed from body`.
  public var description: String { "\(subject): \(verdict.words): \(effect)" }
}
