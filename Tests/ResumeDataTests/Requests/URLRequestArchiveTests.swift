import TestTraits
import Testing

@testable import ResumeData

struct URLRequestArchiveTests {
  private let current: URLRequestArchive
  private let original: URLRequestArchive

  init() throws {
    let sample = try GoldenSample.resumeData()
    current = try #require(sample.currentRequest)
    original = try #require(sample.originalRequest)
  }

  private func changed(
    _ request: URLRequestArchive,
    _ change: (inout PropertyListDictionary) -> Void
  ) throws -> URLRequestArchive {
    var archive = request.archive
    var members = try #require(archive.objects[1].dictionary)
    change(&members)
    archive.objects[1] = .dictionary(members)
    return try URLRequestArchive(archive)
  }

  // MARK: Properties

  @Test func `properties are read by their index`() {
    #expect(current.spelling == .keyed)
    #expect(current.objectCount == 22)
    #expect(current.url == GoldenSample.url)
    #expect(current.timeout == 60)
    #expect(current.cachePolicy == 0)
    #expect(current.mainDocumentURL == nil)
    #expect(current.method == "GET")
    #expect(current.body == nil)
    #expect(
      current.headers == [
        .init(name: "User-Agent", value: "ZYLDownloader/1 CFNetwork/808.0.2 Darwin/16.0.0"),
        .init(name: "Accept", value: "*/*"), .init(name: "Accept-Language", value: "en-us"),
        .init(name: "Accept-Encoding", value: "gzip, deflate"),
      ]
    )
    #expect(original.objectCount == 16)
    #expect(original.url == GoldenSample.url)
    #expect(original.method == nil)
    #expect(original.headers == [])
  }

  @Test func `the header hash is not a header field`() throws {
    let request = try URLRequestArchive(
      url: "http://a/",
      method: "GET",
      headers: [.init(name: "__hhaa__", value: "x"), .init(name: "A", value: "b")]
    )
    #expect(request.headers == [.init(name: "A", value: "b")])
  }

  @Test func `an exponentially expanding header throws tooLarge`() throws {
    var archive = current.archive
    let fields = (0..<64).map { PropertyList.string("field \($0)") }
    let text = PropertyList.string(String(repeating: "x", count: 1 << 16))
    let index = UInt32(archive.objects.count)
    archive.objects += [
      text,
      .dictionary([
        "NS.keys": .array(fields),
        "NS.objects": .array(Array(repeating: .uid(index), count: fields.count)),
      ]),
    ]
    var members = try #require(archive.objects[1].dictionary)
    members["__nsurlrequest_proto_prop_obj_19"] = .uid(index + 1)
    archive.objects[1] = .dictionary(members)
    let error = #expect(throws: ResumeDataError.self) { try URLRequestArchive(archive) }
    #expect(error?.code == .tooLarge)
  }

  @Test func `other archives are refused`() throws {
    var builder = KeyedArchiveBuilder()
    let root = try #require(builder.dictionary(["a": .integer(1)]).uid)
    let error = #expect(throws: ResumeDataError.self) {
      try URLRequestArchive(builder.archive(root: root, under: .plain))
    }
    #expect(error?.code == .notKeyedArchive)
    #expect(throws: ResumeDataError.self) {
      try URLRequestArchive(builder.archive(root: 99, under: .plain))
    }
    #expect(throws: ResumeDataError.self) { try URLRequestArchive([1, 2, 3]) }
  }

  // MARK: Spelling

  @Test(.requirements("ZY50")) func `keyed property names become numbers after $0, $1 and $2`()
    throws
  {
    let repaired = try current.respelled(as: .unkeyed)
    let before = try #require(current.archive.objects[1].dictionary)
    let after = try #require(repaired.archive.objects[1].dictionary)
    for index in 0..<22 {
      #expect(after["$\(index + 3)"] == before["__nsurlrequest_proto_prop_obj_\(index)"])
    }
    #expect(after["$25"] == before["__nsurlrequest_proto_props"])
    #expect(after["$26"] == nil)
    // The old names are removed, which the code of the article does not do.
    #expect(!after.entries.contains { $0.key.hasPrefix("__nsurlrequest") })
    #expect(after.entries.count == before.entries.count)
    // All other members are kept.
    for name in ["$0", "$1", "$2", "$class", "startTimeoutTime", "allowedProtocolTypes"] {
      #expect(after[name] == before[name])
    }
    #expect(repaired.archive.top == ["root": .uid(1)])
    #expect(repaired.archive.objects.dropFirst(2) == current.archive.objects.dropFirst(2))
  }

  @Test(.requirements("ZY51")) func `22 objects become $3 to $24 and 16 become $3 to $18`() throws {
    let numbered = { (request: URLRequestArchive) in
      let names = request.archive.objects[1].dictionary?.entries.map(\.key) ?? []
      return Set(names.filter { $0.hasPrefix("$") && $0 != "$class" })
    }
    let expected = { (last: Int) in Set((0...last).map { "$\($0)" }) }
    #expect(numbered(try current.respelled(as: .unkeyed)) == expected(25))
    #expect(numbered(try original.respelled(as: .unkeyed)) == expected(19))
  }

  @Test func `both spellings have the same properties`() throws {
    for request in [current, original] {
      let repaired = try URLRequestArchive(request.respelled(as: .unkeyed).encoded())
      #expect(repaired.spelling == .unkeyed)
      #expect(repaired.url == request.url)
      #expect(repaired.timeout == request.timeout)
      #expect(repaired.method == request.method)
      #expect(repaired.headers == request.headers)
    }
  }

  @Test(.requirements("ZY49"))
  func `an archive that already has the required spelling is unchanged`() throws {
    for request in [current, original] {
      #expect(try request.respelled(as: .keyed) == request)
      let repaired = try request.respelled(as: .unkeyed)
      #expect(try repaired.respelled(as: .unkeyed) == repaired)
    }
  }

  @Test func `respelling back restores the archive`() throws {
    for request in [current, original] {
      let restored = try request.respelled(as: .unkeyed).respelled(as: .keyed)
      #expect(restored == request)
      // Compares the order of the names too, which equality ignores.
      #expect(
        restored.archive.objects[1].dictionary?.entries
          == request.archive.objects[1].dictionary?.entries
      )
    }
  }

  @Test func `a root that has only the other name is renamed`() throws {
    var archive = try current.respelled(as: .unkeyed).archive
    archive.top = ["NSKeyedArchiveRootObjectKey": .uid(1)]
    let repaired = try URLRequestArchive(archive).respelled(as: .unkeyed)
    #expect(repaired.archive.top == ["root": .uid(1)])
  }

  /// Inconsistent members, for which the repair would have to guess.
  @Test(
    arguments: [
      ("$2", .integer(21)), ("$2", .integer(23)), ("$2", .integer(-1)), ("$2", .integer(1 << 80)),
      ("$2", .string("22")), ("$2", nil), ("$1", nil), ("$3", .uid(0)), ("$30", .uid(0)),
      ("__nsurlrequest_proto_prop_obj_7", nil), ("__nsurlrequest_proto_prop_obj_22", .uid(0)),
      ("__nsurlrequest_proto_prop_obj_x", .uid(0)), ("__nsurlrequest_proto_prop_obj_007", .uid(0)),
    ] as [(String, PropertyList?)]
  )
  func `inconsistent member names throw notRepairable`(name: String, value: PropertyList?) throws {
    let request = try changed(current) { $0[name] = value }
    let error = #expect(throws: ResumeDataError.self) { try request.respelled(as: .unkeyed) }
    #expect(error?.code == .notRepairable)
  }

  @Test func `a root other than object 1 throws notRepairable`() throws {
    var archive = current.archive
    archive.objects.append(archive.objects[1])
    archive.top = ["NSKeyedArchiveRootObjectKey": .uid(UInt32(archive.objects.count - 1))]
    let request = try URLRequestArchive(archive)
    let error = #expect(throws: ResumeDataError.self) { try request.respelled(as: .unkeyed) }
    #expect(error?.code == .notRepairable)
  }

  @Test func `an archive with two roots is not repaired`() throws {
    var archive = current.archive
    archive.top["root"] = .uid(1)
    let request = try URLRequestArchive(archive)
    #expect(throws: ResumeDataError.self) { try request.respelled(as: .unkeyed) }
  }

  @Test func `an archive without the properties member is repaired`() throws {
    let request = try changed(current) { $0["__nsurlrequest_proto_props"] = nil }
    let repaired = try request.respelled(as: .unkeyed)
    #expect(repaired.object(at: 21) == .uid(0))
    #expect(repaired.object(at: 22) == nil)
    #expect(try repaired.respelled(as: .keyed) == request)
  }

  // MARK: Creation

  @Test func `a request without HTTP properties equals the one of iOS 10`() throws {
    #expect(try URLRequestArchive(url: GoldenSample.url).archive == original.archive)
  }

  @Test func `a request round-trips`() throws {
    let headers = [
      URLRequestArchive.HeaderField(name: "Accept", value: "*/*"), .init(name: "X", value: "*/*"),
    ]
    let created = try URLRequestArchive(url: "https://a/ü", method: "GET", headers: headers)
    let read = try URLRequestArchive(created.encoded())
    #expect(read == created)
    #expect(read.url == "https://a/ü")
    #expect(read.headers == headers)
    #expect(read.objectCount == 22)
    #expect(try read.checkNames() == 22)
  }

  @Test func `a request with inconsistent header fields throws`() {
    let field = URLRequestArchive.HeaderField(name: "A", value: "b")
    #expect(throws: ResumeDataError.self) { try URLRequestArchive(url: "a", headers: [field]) }
    #expect(throws: ResumeDataError.self) {
      try URLRequestArchive(url: "a", method: "GET", headers: [field, field])
    }
  }
}
