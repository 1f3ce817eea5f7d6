extension ResumeData {
  /// Something that is wrong with resume data.
  public struct Defect: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of defect.
    ///
    /// New ones may come.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
      private enum Value: String {
        case unreadable, missingURL, unusableURL, missingFile, unsafeFileName
        case missingByteCount, invalidByteCount, shortFile, wrongType, missingVersion
        case unknownVersion, missingValidator, invalidByteRange, unreadableRequest, notGET
      }

      private let value: Value

      /// The bytes are no resume data.
      public static let unreadable = Self(value: .unreadable)
      /// There is no URL.
      public static let missingURL = Self(value: .missingURL)
      /// The URL is neither http nor https.
      public static let unusableURL = Self(value: .unusableURL)
      /// There is neither a name nor a path of the partial file.
      public static let missingFile = Self(value: .missingFile)
      /// The name of the partial file leads to another folder.
      public static let unsafeFileName = Self(value: .unsafeFileName)
      /// It does not say how many bytes have arrived.
      public static let missingByteCount = Self(value: .missingByteCount)
      /// The count of bytes is negative.
      public static let invalidByteCount = Self(value: .invalidByteCount)
      /// The partial file has fewer bytes than have arrived.
      public static let shortFile = Self(value: .shortFile)
      /// A member is not of its type.
      public static let wrongType = Self(value: .wrongType)
      /// There is no version.
      public static let missingVersion = Self(value: .missingVersion)
      /// The version is none that has been seen.
      public static let unknownVersion = Self(value: .unknownVersion)
      /// There is neither an entity tag nor a date, so nothing tells whether the file has changed.
      public static let missingValidator = Self(value: .missingValidator)
      /// The byte range is none.
      public static let invalidByteRange = Self(value: .invalidByteRange)
      /// A request cannot be read.
      public static let unreadableRequest = Self(value: .unreadableRequest)
      /// A request has another method than `GET`.
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
    /// What is wrong, without any secret.
    public var message: String

    init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }

    /// The message.
    public var description: String { message }
  }
}
