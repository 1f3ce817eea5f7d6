/// Why bytes cannot be read as resume data, or resume data cannot be written or repaired.
public struct ResumeDataError: Error, Sendable, Hashable {
  /// The kinds of failure that callers tell apart.
  ///
  /// New ones may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String {
      case notPropertyList, malformed, tooLarge, notKeyedArchive, notResumeData
      case notRepresentable, notRepairable, invalidArgument
    }

    private let value: Value

    /// The bytes begin neither like an XML nor like a binary property list.
    public static let notPropertyList = Self(value: .notPropertyList)
    /// A property list or an archive breaks the rules of its format.
    public static let malformed = Self(value: .malformed)
    /// A limit of ``PropertyListLimits`` is exceeded.
    public static let tooLarge = Self(value: .tooLarge)
    /// A property list is not a keyed archive, or not one of what was expected.
    public static let notKeyedArchive = Self(value: .notKeyedArchive)
    /// A property list has nothing that resume data has.
    public static let notResumeData = Self(value: .notResumeData)
    /// The format that was asked for cannot hold a value.
    public static let notRepresentable = Self(value: .notRepresentable)
    /// A repair would have to guess.
    public static let notRepairable = Self(value: .notRepairable)
    /// What the caller asks for makes no sense.
    public static let invalidArgument = Self(value: .invalidArgument)

    /// The code's name.
    public var description: String { value.rawValue }
  }

  /// The kind of failure.
  public var code: Code
  /// What is wrong.
  public var message: String
  /// Where it is wrong, in bytes from the start of the property list, if it is at one place.
  public var offset: Int?

  /// Describes a failure.
  public init(_ code: Code, _ message: String, at offset: Int? = nil) {
    self.code = code
    self.message = message
    self.offset = offset
  }
}

extension ResumeDataError: CustomStringConvertible {
  /// The message, and the place.
  public var description: String {
    guard let offset else { return message }
    return "byte \(offset): \(message)"
  }
}
