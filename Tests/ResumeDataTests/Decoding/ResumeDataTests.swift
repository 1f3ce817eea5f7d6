import Crypto
import Foundation
import TestTraits
import Testing

@testable import ResumeData

extension GoldenSample {
  static func resumeData() throws -> URLSessionResumeData { try URLSessionResumeData(bytes) }
}

struct ResumeDataTests {
  private typealias Code = URLSessionResumeData.Defect.Code

  private static let minimal: PropertyListDictionary = [
    "NSURLSessionDownloadURL": .string("http://a/1"),
    "NSURLSessionResumeBytesReceived": .integer(7),
    "NSURLSessionResumeInfoTempFileName": .string("CFNetworkDownload_abcdef.tmp"),
  ]

  private func decoded(_ members: PropertyListDictionary) throws -> URLSessionResumeData {
    try URLSessionResumeData(PropertyList.dictionary(members).encoded(as: .binary))
  }

  private func decoded(
    _ key: URLSessionResumeData.Key,
    _ value: PropertyList?
  ) throws -> URLSessionResumeData {
    var members = Self.minimal
    members[key.rawValue] = value
    return try decoded(members)
  }

  // MARK: The golden sample

  @Test func `the golden sample is unchanged`() {
    let digest = SHA256.hash(data: Data(GoldenSample.bytes))
    #expect(digest.map { String(format: "%02x", $0) }.joined() == GoldenSample.digest)
    #expect(GoldenSample.bytes.count == 5_311)
  }

  @Test(.requirements("ZY31", "ZY51")) func `the golden sample decodes`() throws {
    let sample = try GoldenSample.resumeData()
    #expect(sample.form == .xml)
    #expect(sample.version == 2)
    #expect(sample.url == GoldenSample.url)
    #expect(sample.received == 68_188)
    #expect(sample.entityTag == "\"5534b35d-7c7be1\"")
    #expect(sample.lastModified == "Mon, 20 Apr 2015 08:05:49 GMT")
    #expect(sample.temporaryFileName == "CFNetworkDownload_JhfLFD.tmp")
    #expect(sample.partialFileName == "CFNetworkDownload_JhfLFD.tmp")
    #expect(sample.localPath == nil)
    #expect(sample.byteRange == nil)
    #expect(sample.currentRequest?.objectCount == 22)
    #expect(sample.originalRequest?.objectCount == 16)
    #expect(sample.defects == [])
    #expect(sample.otherKeys == [])
    #expect(sample.bytes == GoldenSample.bytes)
  }

  @Test func `rewriting the golden sample changes only the tabs that the article lost`()
    throws
  {
    let written = try PropertyList(GoldenSample.bytes).encoded(as: .xml)
    #expect(written.filter { $0 != UInt8(ascii: "\t") } == GoldenSample.bytes + [0x0A])
  }

  // MARK: Keys

  @Test func `every key is read in every form`() throws {
    let request = try URLRequestArchive(url: "http://a/0", method: "GET").encoded()
    let members: [(URLSessionResumeData.Key, PropertyList)] = [
      (.downloadURL, .string("http://a/1")), (.bytesReceived, .integer(1 << 40)),
      (.version, .integer(4)), (.temporaryFileName, .string("CFNetworkDownload_x.tmp")),
      (.localPath, .string("/var/x.tmp")), (.entityTag, .string("W/\"1\"")),
      (.serverDownloadDate, .string("Mon")), (.byteRange, .string("0-1023")),
      (.currentRequest, .data(request)), (.originalRequest, .data(request)),
      (.response, .data([1])), (.extractor, .string("zip")), (.publishingURL, .string("file:///p")),
    ]
    #expect(members.count == URLSessionResumeData.Key.allCases.count)
    var plain: PropertyListDictionary = ["Unknown": .string("kept")]
    for (key, value) in members { plain[key.rawValue] = value }
    for form in URLSessionResumeData.Form.allCases {
      let data = try URLSessionResumeData(ResumeDictionary(plain, form: form).encoded())
      #expect(data.form == form)
      #expect(data.url == "http://a/1")
      #expect(data.received == 1 << 40)
      #expect(data.version == 4)
      #expect(data.temporaryFileName == "CFNetworkDownload_x.tmp")
      #expect(data.localPath == "/var/x.tmp")
      #expect(data.entityTag == "W/\"1\"")
      #expect(data.lastModified == "Mon")
      #expect(data.byteRange == "0-1023")
      #expect(data.currentRequest?.url == "http://a/0")
      #expect(data.originalRequest?.method == "GET")
      #expect(data.otherKeys == ["Unknown"])
      #expect(data.defects == [])
    }
  }

  @Test func `the URL of the request is used if the download URL is missing`() throws {
    let request = try URLRequestArchive(url: "http://a/0").encoded()
    var members = Self.minimal
    members["NSURLSessionDownloadURL"] = nil
    members["NSURLSessionResumeOriginalRequest"] = .data(request)
    #expect(try decoded(members).url == "http://a/0")
  }

  @Test(.requirements("ZY41", "ZY42"))
  func `the partial file is a path in version 1 and a name in later versions`()
    throws
  {
    #expect(try decoded(Self.minimal).partialFileName == "CFNetworkDownload_abcdef.tmp")
    var members = Self.minimal
    members["NSURLSessionResumeInfoTempFileName"] = nil
    members["NSURLSessionResumeInfoLocalPath"] = .string("/private/var/tmp/CFNetworkDownload_1.tmp")
    #expect(try decoded(members).partialFileName == "CFNetworkDownload_1.tmp")
  }

  // MARK: Defects

  @Test func `missing optional keys are reported as defects and are not fatal`() throws {
    let data = try decoded(Self.minimal)
    #expect(data.defects.map(\.code) == [.missingVersion, .missingValidator])
    #expect(data.validity() == .valid)
  }

  @Test(
    arguments: [
      (.downloadURL, nil, .missingURL), (.downloadURL, .string(""), .missingURL),
      (.downloadURL, .string("ftp://a/1"), .unusableURL),
      (.downloadURL, .string("/1"), .unusableURL), (.downloadURL, .integer(1), .wrongType),
      (.temporaryFileName, nil, .missingFile), (.temporaryFileName, .string(""), .missingFile),
      (.temporaryFileName, .string("../x"), .unsafeFileName),
      (.temporaryFileName, .string(".."), .unsafeFileName),
      (.temporaryFileName, .string("/x"), .unsafeFileName),
      (.temporaryFileName, .string("a\0b"), .unsafeFileName),
      (.bytesReceived, nil, .missingByteCount), (.bytesReceived, .string("7"), .wrongType),
      (.bytesReceived, .integer(-1), .invalidByteCount),
      (.bytesReceived, .integer(1 << 70), .wrongType), (.version, .integer(0), .unknownVersion),
      (.version, .integer(5), .unknownVersion), (.version, .bool(true), .wrongType),
      (.byteRange, .string("5"), .invalidByteRange),
      (.byteRange, .string("9-5"), .invalidByteRange),
      (.byteRange, .string("-1-5"), .invalidByteRange),
      (.byteRange, .string("0-99999999999999999999"), .invalidByteRange),
      (.currentRequest, .string("x"), .wrongType),
      (.currentRequest, .data([1, 2, 3]), .unreadableRequest),
    ] as [(URLSessionResumeData.Key, PropertyList?, URLSessionResumeData.Defect.Code)]
  )
  func `an invalid value is reported as a defect`(
    key: URLSessionResumeData.Key,
    value: PropertyList?,
    code: URLSessionResumeData.Defect.Code
  ) throws {
    #expect(try decoded(key, value).defects.contains { $0.code == code })
  }

  @Test(arguments: 1...4) func `known versions are not a defect`(version: Int) throws {
    let data = try decoded(.version, .integer(Int128(version)))
    #expect(data.version == Int64(version))
    #expect(data.defects.map(\.code) == [.missingValidator])
  }

  @Test func `a path without a file name is an unsafe file name`() throws {
    var members = Self.minimal
    members["NSURLSessionResumeInfoTempFileName"] = nil
    members["NSURLSessionResumeInfoLocalPath"] = .string("/private/var/")
    #expect(try decoded(members).defects.first?.code == .unsafeFileName)
  }

  @Test func `a method other than GET is reported as a defect`() throws {
    let post = try URLRequestArchive(url: "http://a/1", method: "POST").encoded()
    let data = try decoded(.currentRequest, .data(post))
    #expect(data.defects.contains { $0.code == .notGET })
    #expect(data.validity() == .valid)
  }

  @Test func `fatal defects are listed first`() throws {
    let data = try decoded(["NSURLSessionResumeInfoVersion": .string("4")])
    let codes = data.defects.map(\.code)
    #expect(codes.prefix(2) == [.missingURL, .missingFile])
    #expect(codes.map(\.isFatal) == codes.map(\.isFatal).sorted { $0 && !$1 })
  }

  // MARK: Other input

  @Test func `other property lists throw notResumeData`() throws {
    let lists: [PropertyList] = [
      .array([]), .string("x"), .dictionary([:]), .dictionary(["a": .integer(1)]),
    ]
    for list in lists {
      let error = #expect(throws: ResumeDataError.self) {
        try URLSessionResumeData(list.encoded(as: .xml))
      }
      #expect(error?.code == .notResumeData)
    }
    let request = #expect(throws: ResumeDataError.self) {
      try URLSessionResumeData(GoldenSample.requestBytes)
    }
    #expect(request != nil)
  }

  @Test(arguments: ["", "not a property list", "{\"a\": 1}"])
  func `other bytes throw notPropertyList`(text: String) {
    let error = #expect(throws: ResumeDataError.self) { try URLSessionResumeData(Array(text.utf8)) }
    #expect(error?.code == .notPropertyList)
  }

  @Test func `the empty archives of iOS 12 are not resume data`() throws {
    var builder = KeyedArchiveBuilder()
    let root = try #require(builder.dictionary([:]).uid)
    let archive = builder.archive(root: root, under: .secure)
    let bytes = try archive.propertyList.encoded(as: .binary)
    #expect(throws: ResumeDataError.self) { try URLSessionResumeData(bytes) }
    let emptyArchive = KeyedArchive(objects: [.string("$null")], root: 0, under: .secure)
    let emptyBytes = try emptyArchive.propertyList.encoded(as: .binary)
    #expect(emptyBytes.count < 200)
    #expect(throws: ResumeDataError.self) { try URLSessionResumeData(emptyBytes) }
  }
}
