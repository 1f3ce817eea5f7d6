/// Why an engine cannot work on, or a download has no file.
public struct EngineError: Error, Sendable {
  /// The kinds of failure that callers tell apart.
  ///
  /// New ones may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String {
      case alreadyRunning, cannotLock, diskFull, stopped, cancelled, fileMissing
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

    /// The engine's run ended before the download did.
    public static let stopped = Self(value: .stopped)
    /// Somebody gave the download up.
    public static let cancelled = Self(value: .cancelled)
    /// The file of a complete download is not there any more.
    public static let fileMissing = Self(value: .fileMissing)

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
