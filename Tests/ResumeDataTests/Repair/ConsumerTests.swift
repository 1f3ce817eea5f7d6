import TestTraits
import Testing

@testable import ResumeData

struct ConsumerTests {
  private static let draft = URLSessionResumeData.Draft(
    url: "https://a/1",
    received: 7,
    file: .temporaryName("CFNetworkDownload_x.tmp"),
    entityTag: "\"1\""
  )

  private static func withByteRange(
    _ form: URLSessionResumeData.Form
  ) throws -> URLSessionResumeData {
    var members = try draft.members(for: form)
    members[URLSessionResumeData.Key.byteRange.rawValue] = .string("0-6")
    return try URLSessionResumeData(ResumeDictionary(members, form: form))
  }

  // MARK: iOS 10

  @Test(.requirements("ZY47", "ZY48"))
  func `repairing the golden sample changes both requests and nothing else`()
    throws
  {
    let sample = try GoldenSample.resumeData()
    let repaired = try sample.prepared(for: .iOS10)
    #expect(repaired.form == .xml)
    for (before, after) in [
      (sample.currentRequest, repaired.currentRequest),
      (sample.originalRequest, repaired.originalRequest),
    ] {
      #expect(after?.spelling == .unkeyed)
      #expect(after?.archive.rootKeys == [.plain])
      #expect(after?.url == before?.url)
      #expect(after?.headers == before?.headers)
    }
    var expected = try #require(try PropertyList(sample.bytes).dictionary)
    for key in [URLSessionResumeData.Key.currentRequest, .originalRequest] {
      let bytes = try #require(expected[key.rawValue]?.data)
      let archive = try URLRequestArchive(bytes).respelled(as: .unkeyed)
      expected[key.rawValue] = .data(try archive.encoded())
    }
    #expect(try PropertyList(repaired.bytes) == .dictionary(expected))
  }

  @Test(.requirements("ZY49", "FK33")) func `repairing resume data twice changes nothing more`()
    throws
  {
    let repaired = try GoldenSample.resumeData().prepared(for: .iOS10)
    #expect(try repaired.prepared(for: .iOS10).bytes == repaired.bytes)
    #expect(try URLSessionResumeData(repaired.bytes).prepared(for: .iOS10).bytes == repaired.bytes)
    #expect(try !repaired.needsRepair(for: .iOS10))
    #expect(try GoldenSample.resumeData().needsRepair(for: .iOS10))
  }

  @Test func `resume data without requests needs no repair for iOS 10`() throws {
    let data = try URLSessionResumeData(Self.draft, form: .binary)
    #expect(try data.prepared(for: .iOS10).bytes == data.bytes)
  }

  @Test func `an unreadable request throws, and the data is not changed`() throws {
    let sample = try GoldenSample.resumeData()
    var dictionary = sample.dictionary
    try dictionary.set(.currentRequest, to: .data([1, 2, 3]))
    let damaged = try URLSessionResumeData(dictionary)
    #expect(damaged.defects.map(\.code) == [.unreadableRequest])
    #expect(throws: ResumeDataError.self) { try damaged.prepared(for: .iOS10) }
    #expect(throws: Never.self) { try damaged.prepared(for: .identity) }
  }

  // MARK: iOS 11

  @Test(.requirements("FK33"), arguments: [URLSessionResumeData.Form.xml, .binary])
  func `preparing for iOS 11 removes the byte range and nothing else`(
    form: URLSessionResumeData.Form
  ) throws {
    let data = try Self.withByteRange(form)
    #expect(data.byteRange == "0-6")
    let repaired = try data.prepared(for: .iOS11)
    #expect(repaired.bytes == (try URLSessionResumeData(Self.draft, form: form)).bytes)
    #expect(try repaired.prepared(for: .iOS11).bytes == repaired.bytes)
    let sample = try GoldenSample.resumeData()
    #expect(try sample.prepared(for: .iOS11).bytes == sample.bytes)
  }

  // MARK: Version 1

  @Test(.requirements("FK33")) func `a version 1 path moves to the given folder`() throws {
    var draft = Self.draft
    draft.file = .localPath(
      "/var/mobile/Containers/Data/Application/OLD/tmp/CFNetworkDownload_x.tmp"
    )
    for form in URLSessionResumeData.Form.allCases {
      let data = try URLSessionResumeData(draft, form: form)
      let moved = try data.prepared(for: .version1(directory: "/new/tmp"))
      #expect(moved.localPath == "/new/tmp/CFNetworkDownload_x.tmp")
      #expect(moved.form == form)
      #expect(moved.url == data.url)
      #expect(try moved.prepared(for: .version1(directory: "/new/tmp/")).bytes == moved.bytes)
      #expect(throws: ResumeDataError.self) {
        try data.prepared(for: .version1(directory: "new/tmp"))
      }
    }
  }

  @Test func `later versions are not moved`() throws {
    let sample = try GoldenSample.resumeData()
    #expect(try sample.prepared(for: .version1(directory: "/new")).bytes == sample.bytes)
  }

  @Test func `a path is not moved if there is a file name`() throws {
    var members = try Self.draft.members(for: .xml)
    members[URLSessionResumeData.Key.localPath.rawValue] = .string("/old/CFNetworkDownload_x.tmp")
    let data = try URLSessionResumeData(ResumeDictionary(members, form: .xml))
    #expect(try data.prepared(for: .version1(directory: "/new")).bytes == data.bytes)
  }

  @Test func `moving a path without a file name throws notRepairable`() throws {
    var members = try Self.draft.members(for: .xml)
    members[URLSessionResumeData.Key.temporaryFileName.rawValue] = nil
    members[URLSessionResumeData.Key.localPath.rawValue] = .string("/old/..")
    let data = try URLSessionResumeData(ResumeDictionary(members, form: .xml))
    let error = #expect(throws: ResumeDataError.self) {
      try data.prepared(for: .version1(directory: "/new"))
    }
    #expect(error?.code == .notRepairable)
  }

  // MARK: Systems

  @Test(
    .requirements("ZY52"),
    arguments: [
      (7, 0, .version1(directory: "/d")), (8, 4, .version1(directory: "/d")), (9, 3, .identity),
      (10, 0, .iOS10), (10, 1, .iOS10), (10, 2, .identity), (11, 0, .iOS11), (11, 2, .iOS11),
      (11, 3, .identity), (12, 0, .identity), (18, 0, .identity),
    ] as [(Int, Int, URLSessionResumeData.Consumer)]
  )
  func `the system version selects the required repairs`(
    major: Int,
    minor: Int,
    consumer: URLSessionResumeData.Consumer
  ) {
    #expect(URLSessionResumeData.Consumer(iOS: major, minor, directory: "/d") == consumer)
  }

  @Test(.requirements("ZY52")) func `a system that needs no repair receives the original bytes`()
    throws
  {
    let sample = try GoldenSample.resumeData()
    #expect(try sample.prepared(for: .identity).bytes == GoldenSample.bytes)
  }

  // MARK: Received bytes

  @Test(.requirements("ZY44"), arguments: URLSessionResumeData.Form.allCases)
  func `setting the received byte count changes nothing else`(
    form: URLSessionResumeData.Form
  ) throws {
    let data = try Self.withByteRange(form)
    let changed = try data.settingReceived(1 << 33)
    #expect(changed.received == 1 << 33)
    #expect(try changed.settingReceived(7).bytes == data.bytes)
    #expect(try data.settingReceived(7).bytes == data.bytes)
    #expect(throws: ResumeDataError.self) { try data.settingReceived(-1) }
  }

  @Test(.requirements("ZY44"))
  func `setting the received byte count of the golden sample changes nothing else`() throws {
    let changed = try GoldenSample.resumeData().settingReceived(1_048_576)
    let text =
      String(decoding: GoldenSample.bytes, as: UTF8.self)
      .replacing(">68188<", with: ">1048576<") + "\n"
    let written = changed.bytes.filter { $0 != UInt8(ascii: "\t") }
    #expect(String(decoding: written, as: UTF8.self) == text)
  }

  // MARK: Forms

  @Test(.requirements("FK33")) func `systems before iOS 12 receive XML instead of a keyed archive`()
    throws
  {
    let data = try Self.withByteRange(.keyedArchive)
    #expect(try data.prepared(for: .iOS10).form == .xml)
    let repaired = try data.prepared(for: .iOS11)
    #expect(repaired.form == .xml)
    #expect(repaired.byteRange == nil)
    #expect(repaired.received == 7)
  }

  @Test(arguments: URLSessionResumeData.Form.allCases, URLSessionResumeData.Form.allCases)
  func `every form converts to every other form and back`(
    from: URLSessionResumeData.Form,
    to: URLSessionResumeData.Form
  ) throws {
    // The fixture has lost its tabs, so the comparison is with rewritten data.
    let sample = try GoldenSample.resumeData().settingReceived(1).converted(to: from)
    let converted = try sample.converted(to: to)
    #expect(converted.form == to)
    #expect(converted.currentRequest == sample.currentRequest)
    #expect(converted.entityTag == sample.entityTag)
    let restored = try converted.converted(to: from)
    #expect(restored.bytes == sample.bytes)
  }

  @Test(.timeLimit(.minutes(10)))
  func `converting many members takes linear time`() throws {
    var members = try Self.draft.members(for: .xml)
    for number in 0..<20_000 { members["member \(number)"] = .integer(Int128(number)) }
    let data = try URLSessionResumeData(PropertyList.dictionary(members).encoded(as: .binary))
    let converted = try data.converted(to: .keyedArchive)
    #expect(converted.otherKeys.count == 20_000)
    #expect(try converted.converted(to: .binary).bytes == data.bytes)
  }

  @Test func `a dictionary that would decode as a class instance is not converted`() throws {
    let members: PropertyListDictionary = [
      URLSessionResumeData.Key.temporaryFileName.rawValue: .dictionary([
        "NS.string": .string("x.tmp")
      ])
    ]
    let data = try URLSessionResumeData(PropertyList.dictionary(members).encoded(as: .binary))
    #expect(data.temporaryFileName == nil)
    let error = #expect(throws: ResumeDataError.self) { try data.converted(to: .keyedArchive) }
    #expect(error?.code == .notRepresentable)
  }

  @Test func `class instances are kept in their archive and not converted`() throws {
    var builder = KeyedArchiveBuilder()
    let root = builder.reserve()
    let key = builder.plain(.string(URLSessionResumeData.Key.publishingURL.rawValue))
    let url = builder.url("file:///p")
    let name = builder.plain(.string(URLSessionResumeData.Key.byteRange.rawValue))
    let range = builder.plain(.string("0-1"))
    builder.fill(root, ["NS.keys": .array([key, name]), "NS.objects": .array([url, range])])
    let archive = builder.archive(root: root, under: .secure)
    let data = try URLSessionResumeData(archive.propertyList.encoded(as: .binary))
    let error = #expect(throws: ResumeDataError.self) { try data.converted(to: .xml) }
    #expect(error?.code == .notRepresentable)
    let changed = try data.settingReceived(5)
    #expect(changed.received == 5)
    #expect(try KeyedArchive(PropertyList(changed.bytes)).objects.contains(archive.objects[3]))
  }
}
