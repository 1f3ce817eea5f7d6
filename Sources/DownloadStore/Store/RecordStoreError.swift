/// An error of the download store.
///
/// ```swift
/// do {
///   try await store.add([request])
/// } catch let error as RecordStoreError where error.code == .nameTaken {
///   print(error.message)
/// }
/// ```
public struct RecordStoreError: Error, Sendable {
  /// The kinds of error; later versions may add more.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String, CaseIterable {
      case invalidURL, invalidName, invalidDigest, unknownRecord, ambiguousID, missingRoot
      case nameTaken, urlTaken, busy, fileSystem, invalidHeader, invalidRecord
      case invalidKey, keyTaken, invalidTag
    }

    private let value: Value

    /// All codes.
    package static var all: [Self] { Value.allCases.map { Self(value: $0) } }

    /// The URL is not an absolute http or https URL.
    public static let invalidURL = Self(value: .invalidURL)
    /// A file name or folder leads out of its root.
    public static let invalidName = Self(value: .invalidName)
    /// A digest is not `sha256:` and its hexadecimal digits.
    public static let invalidDigest = Self(value: .invalidDigest)
    /// A header field has a name or a value that cannot be sent.
    public static let invalidHeader = Self(value: .invalidHeader)
    /// A key is empty, too long, or has control characters.
    public static let invalidKey = Self(value: .invalidKey)
    /// A tag is longer than 256 bytes.
    public static let invalidTag = Self(value: .invalidTag)
    /// A record of a file contradicts itself, or has a number that is out of range.
    public static let invalidRecord = Self(value: .invalidRecord)
    /// No record has that URL or id.
    public static let unknownRecord = Self(value: .unknownRecord)
    /// Several records have an id with this prefix.
    public static let ambiguousID = Self(value: .ambiguousID)
    /// The store has no root with the name in the record.
    public static let missingRoot = Self(value: .missingRoot)

    /// Another record or a file has the name.
    public static let nameTaken = Self(value: .nameTaken)
    /// Another record has the URL.
    public static let urlTaken = Self(value: .urlTaken)
    /// The download with the key requires another digest.
    public static let keyTaken = Self(value: .keyTaken)
    /// The finished file of the download is being renamed; try again in a moment.
    public static let busy = Self(value: .busy)
    /// The file system failed to rename a file.
    public static let fileSystem = Self(value: .fileSystem)

    /// The code's name.
    public var description: String { value.rawValue }
  }

  /// The kind of error.
  public var code: Code
  /// The description of the error, with the URL, id or path; secrets in URLs are redacted.
  public var message: String

  /// Creates an error with a code and a message.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension RecordStoreError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
