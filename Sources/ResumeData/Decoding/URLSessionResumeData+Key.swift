extension URLSessionResumeData {
  /// The known members of resume data.
  package enum Key: String, Sendable, Hashable, CaseIterable {
    /// The URL, as text.
    case downloadURL = "NSURLSessionDownloadURL"
    /// The count of received bytes; if missing, the size of the partial file counts.
    case bytesReceived = "NSURLSessionResumeBytesReceived"
    /// The version: 1 to iOS 8, 2 to iOS 10, then 4.
    case version = "NSURLSessionResumeInfoVersion"
    /// The name of the partial file in the folder for temporary files, from version 2 on.
    case temporaryFileName = "NSURLSessionResumeInfoTempFileName"
    /// The absolute path of the partial file, in version 1 and in data written by WebKit.
    case localPath = "NSURLSessionResumeInfoLocalPath"
    /// The entity tag, quotes and `W/` included.
    case entityTag = "NSURLSessionResumeEntityTag"
    /// The text of `Last-Modified`, sent back in `If-Range`.
    case serverDownloadDate = "NSURLSessionResumeServerDownloadDate"
    /// The last requested range, as `first-last`.
    case byteRange = "NSURLSessionResumeByteRange"
    /// A keyed archive of the request after redirects.
    case currentRequest = "NSURLSessionResumeCurrentRequest"
    /// A keyed archive of the original request.
    case originalRequest = "NSURLSessionResumeOriginalRequest"
    /// A keyed archive of the response, in newer systems.
    case response = "NSURLSessionResumeResponse"
    /// The decoder of the body, in newer systems.
    case extractor = "NSURLSessionResumeExtractor"
    /// The URL for published progress, in newer systems.
    case publishingURL = "NSURLSessionResumePublishingURL"
  }

  /// The outer format of resume data, detected from its content.
  public enum Form: String, Sendable, Hashable, CaseIterable {
    /// A property list in XML: up to iOS 11.
    case xml
    /// A binary property list, the format of repaired data.
    case binary
    /// A keyed archive of a dictionary, as a binary property list: iOS 12 and later, WebKit.
    case keyedArchive
    /// A keyed archive of a dictionary, as a property list in XML.
    case xmlKeyedArchive

    /// The format of the property list.
    package var format: PropertyListFormat {
      switch self {
      case .xml, .xmlKeyedArchive: .xml
      case .binary, .keyedArchive: .binary
      }
    }

    /// Whether the dictionary is an object of a keyed archive.
    package var isKeyedArchive: Bool {
      switch self {
      case .keyedArchive, .xmlKeyedArchive: true
      case .xml, .binary: false
      }
    }

    init(_ format: PropertyListFormat, isKeyedArchive: Bool) {
      switch format {
      case .xml: self = isKeyedArchive ? .xmlKeyedArchive : .xml
      case .binary: self = isKeyedArchive ? .keyedArchive : .binary
      }
    }
  }
}
