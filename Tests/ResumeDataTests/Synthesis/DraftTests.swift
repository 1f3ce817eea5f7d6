import Foundation
import Testing

@testable import ResumeData

struct DraftTests {
  private static let draft: URLSessionResumeData.Draft = {
    var draft = URLSessionResumeData.Draft(
      url: "https://a/1?q=ü",
      received: 68_188,
      file: .temporaryName("CFNetworkDownload_JhfLFD.tmp"),
      entityTag: "\"5534b35d-7c7be1\"",
      lastModified: "Mon, 20 Apr 2015 08:05:49 GMT"
    )
    draft.originalRequest = .init(url: "https://a/1")
    draft.currentRequest = .init(
      url: "https://b/2",
      headers: [.init(name: "Authorization", value: "secret")]
    )
    return draft
  }()

  @Test(arguments: URLSessionResumeData.Form.allCases)
  func `a draft round-trips in every form`(form: URLSessionResumeData.Form) throws {
    let created = try URLSessionResumeData(Self.draft, form: form)
    let read = try URLSessionResumeData(created.bytes)
    #expect(read == created)
    #expect(read.form == form)
    #expect(read.url == "https://a/1?q=ü")
    #expect(read.received == 68_188)
    #expect(read.temporaryFileName == "CFNetworkDownload_JhfLFD.tmp")
    #expect(read.entityTag == "\"5534b35d-7c7be1\"")
    #expect(read.lastModified == "Mon, 20 Apr 2015 08:05:49 GMT")
    #expect(read.originalRequest?.url == "https://a/1")
    #expect(read.currentRequest?.headers == [.init(name: "Authorization", value: "secret")])
    #expect(read.version == (form.isKeyedArchive ? 4 : 2))
    #expect(read.defects == [])
    #expect(read.validity() == .valid)
  }

  @Test func `a draft with a path has version 1 unless a version is given`() throws {
    var draft = Self.draft
    draft.file = .localPath("/tmp/x.tmp")
    #expect(try URLSessionResumeData(draft, form: .xml).version == 1)
    #expect(try URLSessionResumeData(draft, form: .xml).localPath == "/tmp/x.tmp")
    #expect(try URLSessionResumeData(draft, form: .keyedArchive).version == 4)
    draft.version = 4
    #expect(try URLSessionResumeData(draft, form: .xml).version == 4)
  }

  @Test func `a minimal draft has a URL, a byte count, a file name and a version`() throws {
    let draft = URLSessionResumeData.Draft(
      url: "http://a/1",
      received: 0,
      file: .temporaryName("x.tmp")
    )
    let data = try URLSessionResumeData(draft, form: .xml)
    #expect(
      data.dictionary.keys == [
        "NSURLSessionDownloadURL", "NSURLSessionResumeBytesReceived",
        "NSURLSessionResumeInfoTempFileName", "NSURLSessionResumeInfoVersion",
      ]
    )
  }

  @Test func `the root of the keyed archive has the key of iOS 12`() throws {
    let data = try URLSessionResumeData(Self.draft, form: .keyedArchive)
    let archive = try KeyedArchive(PropertyList(data.bytes))
    #expect(archive.rootKeys == [.secure])
    #expect(archive.top.entries.first?.key == "NSKeyedArchiveRootObjectKey")
  }

  @Test func `Foundation unarchives the keyed archive`() throws {
    let data = try URLSessionResumeData(Self.draft, form: .keyedArchive)
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(data.bytes))
    let object = unarchiver.decodeObject(
      of: [NSDictionary.self, NSString.self, NSNumber.self, NSData.self],
      forKey: "NSKeyedArchiveRootObjectKey"
    )
    let members = try #require(object as? [String: Any])
    #expect(members["NSURLSessionResumeBytesReceived"] as? Int == 68_188)
    #expect(members["NSURLSessionDownloadURL"] as? String == "https://a/1?q=ü")
  }

  @Test func `Foundation reads the property lists`() throws {
    for form in [URLSessionResumeData.Form.xml, .binary] {
      let data = try URLSessionResumeData(Self.draft, form: form)
      let object = try unsafe PropertyListSerialization.propertyList(
        from: Data(data.bytes),
        format: nil
      )
      let members = try #require(object as? [String: Any])
      #expect(members["NSURLSessionResumeBytesReceived"] as? Int == 68_188)
    }
  }

  @Test func `an invalid draft throws invalidArgument`() {
    let make = { (change: (inout URLSessionResumeData.Draft) -> Void) in
      var draft = Self.draft
      change(&draft)
      let error = #expect(throws: ResumeDataError.self) {
        try URLSessionResumeData(draft, form: .binary)
      }
      #expect(error?.code == .invalidArgument)
    }
    make { $0.url = "ftp://a/1" }
    make { $0.received = -1 }
    make { $0.file = .temporaryName("../x") }
    make { $0.file = .localPath("/") }
    make {
      $0.currentRequest?.headers = [.init(name: "A", value: "1"), .init(name: "A", value: "2")]
    }
  }

  @Test func `a string that XML cannot represent throws notRepresentable`() {
    var draft = Self.draft
    draft.entityTag = "\u{1}"
    let error = #expect(throws: ResumeDataError.self) {
      try URLSessionResumeData(draft, form: .xml)
    }
    #expect(error?.code == .notRepresentable)
  }
}
