/// Why an engine cannot work on.
public struct EngineError: Error, Sendable {
  /// The kinds of failure that callers tell apart.
  ///
  /// New ones may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String {
      case alreadyRunning, cannotLock, diskFull, givenUp
    }

    private let value: Value

    /// Another process, or this one, runs an engine on the store.
    public static let alreadyRunning = Self(value: .alreadyRunning)
    /// The lock file cannot be made.
    public static let cannotLock = Self(value: .cannotLock)
    /// A disk is full.
    ///
    /// All downloads are stopped and keep what they have.
    public static let diskFull = Self(value: .diskFull)

    /// The download was cancelled or removed by somebody while it was waited for.
    public static let givenUp = Self(value: .givenUp)

    /// The code's name.
    public var description: String { value.rawValue }
  }

  /// The kind of failure.
  public var code: Code
  /// What happened, and what to do about it.
  public var message: String

  /// Describes a failure.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension EngineError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
