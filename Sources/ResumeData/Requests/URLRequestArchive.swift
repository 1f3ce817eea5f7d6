/// A keyed archive of an NSURLRequest.
///
/// Resume data contains two.
///
/// Its root object contains `$0` (coding version), `$1` (archive version), `$2` (a count), that many
/// objects, and a dictionary of properties, under names of one of two spellings.
///
/// ```swift
/// if let request = try URLSessionResumeData(bytes).currentRequest {
///   print(request.method ?? "GET", request.url ?? "", request.headers.map(\.name))
/// }
/// ```
public struct URLRequestArchive: Sendable, Equatable {
  /// The spelling of the objects' names.
  public enum Spelling: String, Sendable, Hashable, CaseIterable {
    /// `__nsurlrequest_proto_prop_obj_0` and so on, then `__nsurlrequest_proto_props`: written by secure
    /// coding, read by iOS 10.2 and later.
    case keyed
    /// `$3` and so on: written by plain archiving, read by all versions before iOS 10.2.
    case unkeyed
  }

  /// The index of each known property among the objects.
  package enum Property: Int, Sendable, Hashable, CaseIterable {
    /// An NSURL.
    case url = 1
    /// Seconds.
    case timeout = 2
    /// A number of `NSURLRequest.CachePolicy`.
    case cachePolicy = 3
    /// An NSURL.
    case mainDocumentURL = 4
    /// A string.
    case method = 18
    /// An NSDictionary.
    case headers = 19
    /// Data, or nil.
    case body = 20
  }

  /// A header field of a request.
  public struct HeaderField: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, which may be a secret.
    public var value: String

    /// Creates a header field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The archive.
  package let archive: KeyedArchive
  /// The spelling of its names.
  public let spelling: Spelling
  /// The URL.
  public let url: String?
  /// The idle timeout in seconds.
  public let timeout: Double?
  /// The number of the cache policy.
  public let cachePolicy: Int64?
  /// The URL of the main document.
  public let mainDocumentURL: String?
  /// The method; `nil` is `GET`.
  public let method: String?
  /// The header fields in their order, including `Authorization` and `Cookie`.
  public let headers: [HeaderField]
  /// The body.
  public let body: [UInt8]?

  /// The members of the root object.
  let members: PropertyListDictionary
  /// The position of the root object.
  let root: UInt32

  /// Decodes an archive.
  ///
  /// - Throws: ``ResumeDataError`` with `notPropertyList`, `malformed`, `tooLarge`, or
  ///   `notKeyedArchive` if it is not the archive of a request.
  public init(
    _ bytes: [UInt8],
    limits: PropertyListLimits = .standard
  ) throws(ResumeDataError) {
    try self.init(KeyedArchive(PropertyList(bytes, limits: limits)))
  }

  /// Interprets a keyed archive as that of a request.
  ///
  /// - Throws: ``ResumeDataError`` with `notKeyedArchive`, or `malformed` if a property has the wrong
  ///   type.
  package init(_ archive: KeyedArchive) throws(ResumeDataError) {
    guard let root = archive.root, root < archive.objects.count,
      let members = archive.objects[Int(root)].dictionary
    else { throw ResumeDataError(.notKeyedArchive, "the archive has no root object") }
    let isKeyed = members.entries.contains { RequestKey.isKeyed($0.key) }
    let isUnkeyed = members[RequestKey.unkeyed(RequestKey.headerCount)] != nil
    guard isKeyed || isUnkeyed else {
      throw ResumeDataError(.notKeyedArchive, "the archive is not one of a request")
    }
    let spelling = isKeyed ? Spelling.keyed : .unkeyed
    let object = { (property: Property) -> PropertyList in
      members[RequestKey.name(of: property.rawValue, spelling)] ?? KeyedArchiveBuilder.null
    }
    self.archive = archive
    self.spelling = spelling
    self.members = members
    self.root = root
    url = try archive.urlText(object(.url))
    timeout = try archive.number(object(.timeout))
    cachePolicy = try archive.integer(object(.cachePolicy))
    mainDocumentURL = try archive.urlText(object(.mainDocumentURL))
    method = try archive.text(object(.method))
    headers = try Self.headers(object(.headers), archive)
    body = try archive.data(object(.body))
  }

  /// The maximum size of the header fields in bytes.
  ///
  /// Values may be shared in an archive, but not here.
  private static let largestHeader = 1 << 20

  private static func headers(
    _ object: PropertyList,
    _ archive: KeyedArchive
  ) throws(ResumeDataError) -> [HeaderField] {
    guard let members = try archive.dictionary(object) else { return [] }
    var fields: [HeaderField] = []
    var byteCount = 0
    // CFNetwork stores a hash beside the fields.
    for entry in members.entries where entry.key != "__hhaa__" {
      guard let value = try archive.text(entry.value) else { continue }
      byteCount += entry.key.utf8.count + value.utf8.count
      guard byteCount <= largestHeader else {
        throw ResumeDataError(.tooLarge, "the header of the request is too large")
      }
      fields.append(HeaderField(name: entry.key, value: value))
    }
    return fields
  }

  /// The number of objects that the archive declares: 22 with the HTTP properties, 16 without.
  package var objectCount: Int? {
    members[RequestKey.count]?.integer.flatMap { Int(exactly: $0) }
  }

  /// An object by its index, usually a reference; `nil` if there is none.
  package func object(at index: Int) -> PropertyList? {
    members[RequestKey.name(of: index, spelling)]
  }

  /// The archive's bytes, as a binary property list.
  ///
  /// - Throws: ``ResumeDataError`` with `tooLarge`.
  package func encoded(
    limits: PropertyListLimits = .standard
  ) throws(ResumeDataError) -> [UInt8] {
    try archive.propertyList.encoded(as: .binary, limits: limits)
  }
}

/// The names of the members of a request's root object.
enum RequestKey {
  /// The number of members before the objects: `$0`, `$1` and `$2`.
  static let headerCount = 3
  static let codingVersion = "$0"
  static let archiveVersion = "$1"
  static let count = "$2"
  static let properties = "__nsurlrequest_proto_props"
  private static let objectPrefix = "__nsurlrequest_proto_prop_obj_"

  static func keyed(_ index: Int) -> String { objectPrefix + String(index) }

  static func unkeyed(_ place: Int) -> String { "$\(place)" }

  static func name(of index: Int, _ spelling: URLRequestArchive.Spelling) -> String {
    switch spelling {
    case .keyed: keyed(index)
    case .unkeyed: unkeyed(index + headerCount)
    }
  }

  /// The name of the dictionary of properties, which follows the objects.
  static func properties(
    after count: Int,
    _ spelling: URLRequestArchive.Spelling
  ) -> String {
    switch spelling {
    case .keyed: properties
    case .unkeyed: unkeyed(count + headerCount)
    }
  }

  static func isKeyed(_ name: String) -> Bool {
    name == properties || name.hasPrefix(objectPrefix)
  }
}
