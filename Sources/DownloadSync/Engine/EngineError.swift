/// An error that ends an engine's run or leaves a download without a file.
///
/// ```swift
/// do {
///   let engine = try DownloadEngine(store: store, transport: transport)
///   _ = try await engine.run(until: .idle)
/// } catch let error as EngineError where error.code == .alreadyRunning {
///   print("another process downloads:", error.message)
/// }
/// ```
public struct EngineError: Error, Sendable {
  /// The kinds of error that callers can distinguish.
  ///
  /// More codes may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String, CaseIterable {
      case alreadyRunning, cannotLock, diskFull, outOfResources, stopped, cancelled, fileMissing
    }

    private let value: Value

    /// All codes.
    package static var all: [Self] { Value.allCases.map { Self(value: $0) } }

    /// Another engine, in this or another process, runs on the store.
    public static let alreadyRunning = Self(value: .alreadyRunning)
    /// The lock file cannot be opened or locked.
    public static let cannotLock = Self(value: .cannotLock)
    /// A disk is full.
    ///
    /// All transfers are stopped, and the downloads keep the bytes that are synced.
    public static let diskFull = Self(value: .diskFull)
    /// A file of the store cannot be opened, because the process or the system has too many open files,
    /// or no memory.
    public static let outOfResources = Self(value: .outOfResources)

    /// The engine's run ended before the download did, or before the engine was run again.
    public static let stopped = Self(value: .stopped)
    /// The user cancelled or removed the download.
    public static let cancelled = Self(value: .cancelled)
    /// The file of a completed download is missing.
    public static let fileMissing = Self(value: .fileMissing)

    /// The name of the code.
    public var description: String { value.rawValue }
  }

  /// The kind of error.
  public var code: Code
  /// A description for people: what happened, and what to do about it.
  public var message: String

  /// Creates an error.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension EngineError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
