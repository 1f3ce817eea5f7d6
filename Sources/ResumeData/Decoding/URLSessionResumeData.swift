/// The resume data of Apple's URLSession, decoded on any platform.
///
/// `cancel(byProducingResumeData:)` and failed downloads produce it: a dictionary with a URL, the
/// count of received bytes, a validator and the partial file. Its format differs between system
/// versions; ``form`` is detected from the content.
///
/// Store ``bytes``, which are never changed, and apply ``prepared(for:)`` when the data is passed
/// to a system. Decoding never instantiates a class that the data names, and takes bounded time and
/// memory for any input.
///
/// ```swift
/// let data = try URLSessionResumeData(bytes)
/// print(data.form, data.url ?? "", data.received ?? 0)
/// for defect in data.defects where defect.code.isFatal { print(defect.message) }
/// ```
public struct URLSessionResumeData: Sendable, Equatable {
  /// The original bytes.
  public let bytes: [UInt8]
  /// The outer format.
  public let form: Form
  /// The version; `nil` if missing.
  public let version: Int64?
  /// The download's URL: the data's own, or else that of its requests.
  public let url: String?
  /// The count of received bytes; `nil` if the size of the partial file counts.
  public let received: Int64?
  /// The entity tag of the received bytes, as sent by the server.
  public let entityTag: String?
  /// The `Last-Modified` of the received bytes, as sent by the server.
  public let lastModified: String?
  /// The name of the partial file in the system's temporary folder.
  public let temporaryFileName: String?
  /// The path of the partial file in version 1.
  ///
  /// Its folder may have moved.
  public let localPath: String?
  /// The last requested range, as `first-last`.
  public let byteRange: String?
  /// The original request; `nil` if it cannot be decoded.
  public let originalRequest: URLRequestArchive?
  /// The request after redirects; `nil` if it cannot be decoded.
  public let currentRequest: URLRequestArchive?
  /// The defects, the most severe first.
  public private(set) var defects: [Defect]
  /// The names of unknown members, in their order.
  public let otherKeys: [String]

  let dictionary: ResumeDictionary

  /// Decodes resume data.
  ///
  /// Missing members and members of the wrong type become ``defects``; ``bytes`` keeps everything.
  ///
  /// - Throws: ``ResumeDataError`` with `notPropertyList`, `malformed`, `tooLarge`,
  ///   `notKeyedArchive`, or `notResumeData` if the bytes are a property list of something else.
  /// - Complexity: O(*n*) in the number of bytes and the expanded size that the limits allow.
  public init(
    _ bytes: [UInt8],
    limits: PropertyListLimits = .standard
  ) throws(ResumeDataError) {
    try self.init(bytes, ResumeDictionary(bytes, limits: limits))
  }

  init(_ dictionary: ResumeDictionary) throws(ResumeDataError) {
    try self.init(dictionary.encoded(), dictionary)
  }

  private init(
    _ bytes: [UInt8],
    _ dictionary: ResumeDictionary
  ) throws(ResumeDataError) {
    guard dictionary.keys.contains(where: { Key(rawValue: $0) != nil }) else {
      throw ResumeDataError(
        .notResumeData,
        "the property list is not resume data: it has none of its keys"
      )
    }
    var reading = ResumeDataReading(dictionary)
    self.bytes = bytes
    self.dictionary = dictionary
    form = dictionary.form
    version = reading.integer(.version)
    received = reading.integer(.bytesReceived)
    entityTag = reading.text(.entityTag)
    lastModified = reading.text(.serverDownloadDate)
    temporaryFileName = reading.text(.temporaryFileName)
    localPath = reading.text(.localPath)
    byteRange = reading.text(.byteRange)
    originalRequest = reading.request(.originalRequest)
    currentRequest = reading.request(.currentRequest)
    url = reading.text(.downloadURL) ?? currentRequest?.url ?? originalRequest?.url
    otherKeys = dictionary.keys.filter { Key(rawValue: $0) == nil }
    defects = reading.defects
    let all = defects + shortcomings
    defects = all.filter(\.code.isFatal) + all.filter { !$0.code.isFatal }
  }
}
