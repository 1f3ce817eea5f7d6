/// The error of decoding, encoding or repairing resume data.
///
/// ```swift
/// do {
///   let data = try URLSessionResumeData(bytes)
///   print(data.url ?? "")
/// } catch {
///   print(error.code, error.message, error.offset ?? 0)
/// }
/// ```
public struct ResumeDataError: Error, Sendable, Hashable {
  /// The kinds of error; later versions may add more.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String, CaseIterable {
      case notPropertyList, malformed, tooLarge, notKeyedArchive, notResumeData
      case notRepresentable, notRepairable, invalidArgument
    }

    private let value: Value

    /// All codes.
    package static var all: [Self] { Value.allCases.map { Self(value: $0) } }

    /// The bytes start neither as an XML nor as a binary property list.
    public static let notPropertyList = Self(value: .notPropertyList)
    /// A property list or an archive violates its format.
    public static let malformed = Self(value: .malformed)
    /// A limit of ``PropertyListLimits`` is exceeded.
    public static let tooLarge = Self(value: .tooLarge)
    /// A property list is not a keyed archive of the expected kind.
    public static let notKeyedArchive = Self(value: .notKeyedArchive)
    /// A property list has none of the keys of resume data.
    public static let notResumeData = Self(value: .notResumeData)
    /// The requested format cannot represent a value.
    public static let notRepresentable = Self(value: .notRepresentable)
    /// A repair would be a guess.
    public static let notRepairable = Self(value: .notRepairable)
    /// An argument is invalid.
    public static let invalidArgument = Self(value: .invalidArgument)

    /// The code's name.
    public var description: String { value.rawValue }
  }

  /// The kind of error.
  public var code: Code
  /// A description of the problem.
  public var message: String
  /// The byte offset of the problem in the property list; `nil` if it has no single place.
  public var offset: Int?

  /// Creates an error.
  package init(_ code: Code, _ message: String, at offset: Int? = nil) {
    self.code = code
    self.message = message
    self.offset = offset
  }
}

extension ResumeDataError: CustomStringConvertible {
  /// The message and the byte offset.
  public var description: String {
    guard let offset else { return message }
    return "byte \(offset): \(message)"
  }
}
