/// Resume data of Apple's URLSession, decoded on any system.
///
/// It is what `cancel(byProducingResumeData:)` and a failed download hand over: a dictionary that
/// names a URL, the bytes that have arrived, a validator and the partial file. Its form differs from
/// version to version of the systems; ``form`` is found by content.
///
/// The raw bytes are kept and are what to store: a change for a system that needs one
/// (``prepared(for:)``) is made when it is handed over. Decoding makes no object of a class that the
/// data names, and takes bounded time and memory whatever the bytes are.
public struct ResumeData: Sendable, Equatable {
  /// The bytes, as they were handed over.
  public let bytes: [UInt8]
  /// How the dictionary is written.
  public let form: Form
  /// The version; `nil` when it says none.
  public let version: Int64?
  /// The URL that was downloaded: that of the data, or else of its requests.
  public let url: String?
  /// How many bytes have arrived; `nil` when the size of the partial file counts.
  public let received: Int64?
  /// The entity tag of those bytes, as the server wrote it.
  public let entityTag: String?
  /// The `Last-Modified` of those bytes, as the server wrote it.
  public let lastModified: String?
  /// The name of the partial file, in the system's folder for them.
  public let temporaryFileName: String?
  /// The path of the partial file in version 1; its folder may have moved since.
  public let localPath: String?
  /// The range that was asked for last, as `first-last`.
  public let byteRange: String?
  /// The request as it was made, if it can be read.
  public let originalRequest: URLRequestArchive?
  /// The request after redirects, if it can be read.
  public let currentRequest: URLRequestArchive?
  /// What is wrong with it, the worst first.
  public private(set) var defects: [Defect]
  /// Members that are not known, in their order.
  public let otherKeys: [String]

  let dictionary: ResumeDictionary

  /// Decodes resume data.
  ///
  /// Whatever is missing or of the wrong type becomes a defect; nothing is lost.
  ///
  /// - Throws: ``ResumeDataError`` with `notPropertyList`, `malformed`, `tooLarge`,
  ///   `notKeyedArchive`, or `notResumeData` when the bytes are a property list of something else.
  /// - Complexity: O(*n*) in the bytes and in the size that the limits allow.
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
      throw ResumeDataError(.notResumeData, "the property list has no member of resume data")
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
