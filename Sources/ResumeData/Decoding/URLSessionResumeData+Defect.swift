extension URLSessionResumeData {
  /// A defect of resume data.
  public struct Defect: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of defect; later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
      private enum Value: String {
        case unreadable, missingURL, unusableURL, missingFile, unsafeFileName
        case missingByteCount, invalidByteCount, shortFile, wrongType, missingVersion
        case unknownVersion, missingValidator, invalidByteRange, unreadableRequest, notGET
      }

      private let value: Value

      /// The bytes are not resume data.
      public static let unreadable = Self(value: .unreadable)
      /// There is no URL.
      public static let missingURL = Self(value: .missingURL)
      /// The URL is neither http nor https.
      public static let unusableURL = Self(value: .unusableURL)
      /// There is neither a name nor a path of the partial file.
      public static let missingFile = Self(value: .missingFile)
      /// The name of the partial file contains a path.
      public static let unsafeFileName = Self(value: .unsafeFileName)
      /// The count of received bytes is missing.
      public static let missingByteCount = Self(value: .missingByteCount)
      /// The count of bytes is negative.
      public static let invalidByteCount = Self(value: .invalidByteCount)
      /// The partial file is shorter than the count of received bytes.
      public static let shortFile = Self(value: .shortFile)
      /// A member has the wrong type.
      public static let wrongType = Self(value: .wrongType)
      /// The version is missing.
      public static let missingVersion = Self(value: .missingVersion)
      /// The version is unknown.
      public static let unknownVersion = Self(value: .unknownVersion)
      /// There is neither an entity tag nor a date, so a changed file cannot be detected.
      public static let missingValidator = Self(value: .missingValidator)
      /// The byte range is malformed.
      public static let invalidByteRange = Self(value: .invalidByteRange)
      /// A request cannot be read.
      public static let unreadableRequest = Self(value: .unreadableRequest)
      /// A request's method is not `GET`.
      public static let notGET = Self(value: .notGET)

      /// The code's name.
      public var description: String { value.rawValue }

      /// Whether no system can use resume data with the defect.
      public var isFatal: Bool {
        switch value {
        case .unreadable, .missingURL, .unusableURL, .missingFile, .unsafeFileName,
          .invalidByteCount, .shortFile:
          true
        case .missingByteCount, .wrongType, .missingVersion, .unknownVersion, .missingValidator,
          .invalidByteRange, .unreadableRequest, .notGET:
          false
        }
      }
    }

    /// The kind of defect.
    public var code: Code
    /// A description without secrets.
    public var message: String

    init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }

    /// The message.
    public var description: String { message }
  }
}
