/// Why an operation on download records failed.
public struct DownloadStoreError: Error, Sendable {
  /// The kinds of failure that callers tell apart.
  ///
  /// New ones may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String {
      case invalidURL, invalidName, invalidDigest, unknownRecord, ambiguousID, missingRoot
      case nameTaken, urlTaken, busy, fileSystem
    }

    private let value: Value

    /// The URL is not an absolute http or https URL.
    public static let invalidURL = Self(value: .invalidURL)
    /// A file name or folder leads out of its root.
    public static let invalidName = Self(value: .invalidName)
    /// A digest is not `sha256:` and its hexadecimal digits.
    public static let invalidDigest = Self(value: .invalidDigest)
    /// No record has that URL or id.
    public static let unknownRecord = Self(value: .unknownRecord)
    /// Several records have an id that begins like that.
    public static let ambiguousID = Self(value: .ambiguousID)
    /// A record lies in a root that the store does not know.
    public static let missingRoot = Self(value: .missingRoot)

    /// Another record or a file has the name.
    public static let nameTaken = Self(value: .nameTaken)
    /// Another record has the URL.
    public static let urlTaken = Self(value: .urlTaken)
    /// The file is just getting its name; the same may be asked for a moment later.
    public static let busy = Self(value: .busy)
    /// The file system refused to give a file its new name.
    public static let fileSystem = Self(value: .fileSystem)

    /// The code's name.
    public var description: String { value.rawValue }
  }

  /// The kind of failure.
  public var code: Code
  /// What happened to what.
  public var message: String

  /// Describes a failure.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension DownloadStoreError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
