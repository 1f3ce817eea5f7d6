/// Which line of a file of JSON lines cannot be imported, and why.
public struct JSONLinesError: Error, Sendable, Hashable {
  /// The line, counted from 1.
  public var line: Int
  /// What is wrong with it.
  public var reason: String
  /// How many lines from the first on are stored: the whole transactions before this one.
  public var storedLines: Int

  /// Describes what is wrong.
  public init(line: Int, reason: String, storedLines: Int = 0) {
    self.line = line
    self.reason = reason
    self.storedLines = storedLines
  }
}

extension JSONLinesError: CustomStringConvertible {
  /// The line and the reason.
  public var description: String {
    "line \(line): \(reason); \(storedLines) lines before it are stored"
  }
}
