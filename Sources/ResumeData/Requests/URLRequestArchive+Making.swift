extension URLRequestArchive {
  /// Creates the archive of a request, in the keyed spelling.
  ///
  /// It has the objects that iOS 10 wrote, with the defaults of NSURLRequest: 16, or 22 with a method.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - method: The method; required for the other HTTP properties.
  ///   - headers: The header fields, with distinct names. They require a method.
  /// - Throws: ``ResumeDataError`` with `invalidArgument`.
  package init(
    url: String,
    method: String? = nil,
    headers: [HeaderField] = []
  ) throws(ResumeDataError) {
    guard method != nil || headers.isEmpty else {
      throw ResumeDataError(.invalidArgument, "a request with headers needs a method")
    }
    var fields = PropertyListDictionary()
    for header in headers {
      guard fields.append(.string(header.value), for: header.name) else {
        throw ResumeDataError(.invalidArgument, "duplicate header field '\(header.name)'")
      }
    }
    var builder = KeyedArchiveBuilder()
    let root = builder.reserve()
    var objects = Self.commonObjects(url, &builder)
    if let method {
      let null = KeyedArchiveBuilder.null
      objects += [
        null, builder.plain(.integer(2)), builder.plain(.string(method)),
        fields.entries.isEmpty ? null : builder.dictionary(fields), null, null,
      ]
    }
    var members: PropertyListDictionary = [
      RequestKey.codingVersion: .integer(2), RequestKey.archiveVersion: .integer(9),
      RequestKey.count: .integer(Int128(objects.count)),
    ]
    for (index, object) in objects.enumerated() {
      members.append(object, for: RequestKey.keyed(index))
    }
    members.append(KeyedArchiveBuilder.null, for: RequestKey.properties)
    members.append(.real(0), for: "startTimeoutTime")
    members.append(.bool(false), for: "requiresShortConnectionTimeout")
    members.append(.real(0), for: "payloadTransmissionTimeout")
    members.append(.integer(0), for: "allowedProtocolTypes")
    members.append(builder.classNamed("NSURLRequest", "NSObject"), for: "$class")
    builder.fill(root, members)
    try self.init(builder.archive(root: root, under: .secure))
  }

  /// The objects 0 to 15.
  ///
  /// For objects without a ``Property`` only the usual values are known.
  private static func commonObjects(
    _ url: String,
    _ builder: inout KeyedArchiveBuilder
  ) -> [PropertyList] {
    let null = KeyedArchiveBuilder.null
    let no = builder.plain(.bool(false))
    let url = builder.url(url)
    let timeout = builder.plain(.real(60))
    let zero = builder.plain(.integer(0))
    let yes = builder.plain(.bool(true))
    let noSeconds = builder.plain(.real(0))
    let minusOne = builder.plain(.integer(-1))
    return [
      no, url, timeout, zero, null, yes, zero, null,
      null, yes, no, zero, noSeconds, noSeconds, zero, minusOne,
    ]
  }
}
