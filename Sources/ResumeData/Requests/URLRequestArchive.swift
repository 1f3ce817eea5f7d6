/// A keyed archive of an NSURLRequest, as resume data holds two of.
///
/// Its root object says `$0` (coding version), `$1` (archive version) and `$2` (a count), and then
/// has that many objects and a dictionary of properties under names of one of two spellings.
public struct URLRequestArchive: Sendable, Equatable {
  /// How the names of the objects are spelt.
  public enum Spelling: String, Sendable, Hashable, CaseIterable {
    /// `__nsurlrequest_proto_prop_obj_0` and on, then `__nsurlrequest_proto_props`: what secure
    /// coding writes, and iOS 10.2 and later read.
    case keyed
    /// `$3` and on: what plain archiving writes, and all before iOS 10.2 read.
    case unkeyed
  }

  /// Which object is which property.
  public enum Property: Int, Sendable, Hashable, CaseIterable {
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
    /// Data, or nothing.
    case body = 20
  }

  /// A field of a request's header.
  public struct HeaderField: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, which may be a secret.
    public var value: String

    /// Makes a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The archive as it is.
  public let archive: KeyedArchive
  /// How its names are spelt.
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
  /// The fields of the header in their order, `Authorization` and `Cookie` among them.
  public let headers: [HeaderField]
  /// The body.
  public let body: [UInt8]?

  /// The members of the root object.
  let members: PropertyListDictionary
  /// Where the root object is.
  let root: UInt32

  /// Reads an archive.
  ///
  /// - Throws: ``ResumeDataError`` with `notPropertyList`, `malformed`, `tooLarge`, or
  ///   `notKeyedArchive` when it is no archive of a request.
  public init(
    _ bytes: [UInt8],
    limits: PropertyListLimits = .standard
  ) throws(ResumeDataError) {
    try self.init(KeyedArchive(PropertyList(bytes, limits: limits)))
  }

  /// Takes a keyed archive for one of a request.
  ///
  /// - Throws: ``ResumeDataError`` with `notKeyedArchive`, or `malformed` when a property is not of
  ///   its type.
  public init(_ archive: KeyedArchive) throws(ResumeDataError) {
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

  /// In bytes; values can be shared in an archive, and are not when they are shown.
  private static let largestHeader = 1 << 20

  private static func headers(
    _ object: PropertyList,
    _ archive: KeyedArchive
  ) throws(ResumeDataError) -> [HeaderField] {
    guard let members = try archive.dictionary(object) else { return [] }
    var fields: [HeaderField] = []
    var byteCount = 0
    // CFNetwork keeps the hash of the fields beside them.
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

  /// How many objects the archive says that it has: 22 with the parts of HTTP, 16 without.
  public var objectCount: Int? {
    members[RequestKey.count]?.integer.flatMap { Int(exactly: $0) }
  }

  /// An object by its index, mostly a reference; `nil` when there is none.
  public func object(at index: Int) -> PropertyList? {
    members[RequestKey.name(of: index, spelling)]
  }

  /// The archive's bytes, as a binary property list.
  ///
  /// - Throws: ``ResumeDataError`` with `tooLarge`.
  public func encoded(
    limits: PropertyListLimits = .standard
  ) throws(ResumeDataError) -> [UInt8] {
    try archive.propertyList.encoded(as: .binary, limits: limits)
  }
}

/// The names of the members of a request's root object.
enum RequestKey {
  /// How many members come before the objects: `$0`, `$1` and `$2`.
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

  /// The name of the properties, which come after the objects.
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
