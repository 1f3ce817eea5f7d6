import TestTraits
import Testing

@testable import ResumeData

struct ValidityTests {
  private static func data(
    entityTag: String? = "\"1\"",
    lastModified: String? = "Mon",
    original: String? = nil
  ) throws -> URLSessionResumeData {
    var draft = URLSessionResumeData.Draft(
      url: "http://a/1",
      received: 100,
      file: .temporaryName("x.tmp"),
      entityTag: entityTag,
      lastModified: lastModified
    )
    draft.originalRequest = original.map { .init(url: $0) }
    return try URLSessionResumeData(draft, form: .binary)
  }

  @Test(.requirements("SC4")) func `absent or empty resume data has validity none`() {
    #expect(URLSessionResumeData.validity(of: nil) == .none)
    #expect(URLSessionResumeData.validity(of: []) == .none)
  }

  @Test func `other bytes are corrupt`() {
    guard case .corrupt(let defect) = URLSessionResumeData.validity(of: [1, 2, 3]) else {
      Issue.record("not corrupt")
      return
    }
    #expect(defect.code == .unreadable)
  }

  @Test func `the golden sample is valid`() {
    #expect(URLSessionResumeData.validity(of: GoldenSample.bytes) == .valid)
  }

  @Test(
    arguments: [
      ("NSURLSessionDownloadURL", .missingURL),
      ("NSURLSessionResumeInfoTempFileName", .missingFile),
      ("NSURLSessionResumeBytesReceived", .missingByteCount),
    ] as [(String, URLSessionResumeData.Defect.Code)]
  )
  func `resume data without a URL, file or byte count is corrupt`(
    key: String,
    code: URLSessionResumeData.Defect.Code
  ) throws {
    var members = try #require(try PropertyList(Self.data().bytes).dictionary)
    members[key] = nil
    let data = try URLSessionResumeData(PropertyList.dictionary(members).encoded(as: .binary))
    guard case .corrupt(let defect) = data.validity() else {
      Issue.record("not corrupt")
      return
    }
    #expect(defect.code == code)
  }

  @Test func `the file size replaces a missing byte count`() throws {
    var members = try #require(try PropertyList(Self.data().bytes).dictionary)
    members["NSURLSessionResumeBytesReceived"] = nil
    let data = try URLSessionResumeData(PropertyList.dictionary(members).encoded(as: .binary))
    #expect(data.validity(given: .init(temporaryFile: .present(byteCount: 5))) == .valid)
    #expect(data.validity(given: .init(temporaryFile: .missing)) == .temporaryFileMissing)
  }

  /// The entity tags and dates of the data and of the record, and whether the data is stale.
  @Test(
    arguments: [
      // Two strong tags decide, independent of the dates.
      ("\"1\"", "\"1\"", "Mon", "Tue", false), ("\"1\"", "\"2\"", "Mon", "Mon", true),
      // If one tag is weak, the dates decide.
      ("W/\"1\"", "\"1\"", "Mon", "Mon", false), ("W/\"1\"", "\"1\"", "Mon", "Tue", true),
      ("\"1\"", "W/\"1\"", "Mon", "Mon", false), ("\"1\"", "W/\"1\"", "Mon", "Tue", true),
      ("W/\"1\"", "W/\"1\"", "Mon", "Tue", true), ("W/\"1\"", "W/\"2\"", "Mon", "Mon", false),
      // Without dates the tags are compared weakly.
      ("W/\"1\"", "\"1\"", nil, nil, false), ("W/\"1\"", "W/\"1\"", nil, nil, false),
      ("W/\"1\"", "\"2\"", nil, nil, true), ("\"1\"", "W/\"2\"", nil, nil, true),
    ] as [(String, String, String?, String?, Bool)]
  )
  func `strong tags decide, then dates, then weak tags`(
    own: String,
    other: String,
    ownDate: String?,
    otherDate: String?,
    isStale: Bool
  ) throws {
    let data = try Self.data(entityTag: own, lastModified: ownDate)
    let facts = URLSessionResumeData.Facts(entityTag: other, lastModified: otherDate)
    #expect(data.validity(given: facts) == (isStale ? .stale(.validator) : .valid))
  }

  @Test func `the partial file must exist and have the received bytes`() throws {
    let data = try Self.data()
    #expect(data.validity(given: .init(temporaryFile: .missing)) == .temporaryFileMissing)
    #expect(data.validity(given: .init(temporaryFile: .present(byteCount: 100))) == .valid)
    #expect(data.validity(given: .init(temporaryFile: .present(byteCount: 101))) == .valid)
    guard
      case .corrupt(let defect) = data.validity(
        given: .init(temporaryFile: .present(byteCount: 99))
      )
    else {
      Issue.record("not corrupt")
      return
    }
    #expect(defect.code == .shortFile)
  }

  @Test(
    arguments: [
      ("http://a/1", nil, true), ("http://a/2", nil, false), ("http://A/1", nil, false),
      // After a redirect, the URL of the record is that of the original request.
      ("http://first/", "http://first/", true), ("http://other/", "http://first/", false),
    ] as [(String, String?, Bool)]
  )
  func `resume data of another URL is stale`(url: String, original: String?, isValid: Bool) throws {
    let data = try Self.data(original: original)
    #expect(data.validity(given: .init(url: url)) == (isValid ? .valid : .stale(.url)))
  }

  @Test func `a URL that NSURL has percent-encoded is the same URL`() throws {
    let draft = URLSessionResumeData.Draft(
      url: "http://a/%C3%BC%20%7C",
      received: 1,
      file: .temporaryName("x")
    )
    let data = try URLSessionResumeData(draft, form: .xml)
    #expect(data.validity(given: .init(url: "http://a/ü |")) == .valid)
    #expect(data.validity(given: .init(url: "http://a/%c3%bc%20%7c")) == .stale(.url))
  }

  @Test(
    arguments: [
      ("\"1\"", "Mon", "\"1\"", "Tue", true), ("\"1\"", "Mon", "\"2\"", "Mon", false),
      ("W/\"1\"", "Mon", "W/\"2\"", "Mon", true), ("W/\"1\"", "Mon", "W/\"1\"", "Tue", false),
      ("W/\"1\"", nil, "W/\"2\"", nil, false), ("W/\"1\"", nil, "\"1\"", nil, true),
      (nil, "Mon", nil, "Mon", true), (nil, "Mon", nil, "Tue", false),
      ("\"1\"", nil, nil, nil, true),
      (nil, "Mon", "\"1\"", nil, true), ("\"1\"", "Mon", nil, "Tue", false),
    ] as [(String?, String?, String?, String?, Bool)]
  )
  func `resume data of another file version is stale`(
    tag: String?,
    date: String?,
    recordTag: String?,
    recordDate: String?,
    isValid: Bool
  ) throws {
    let data = try Self.data(entityTag: tag, lastModified: date)
    let facts = URLSessionResumeData.Facts(entityTag: recordTag, lastModified: recordDate)
    #expect(data.validity(given: facts) == (isValid ? .valid : .stale(.validator)))
  }

  @Test func `corrupt takes precedence over stale, and stale over a missing file`() throws {
    let facts = URLSessionResumeData.Facts(url: "http://b/", temporaryFile: .missing)
    #expect(try Self.data().validity(given: facts) == .stale(.url))
    let bytes = try PropertyList.dictionary(["NSURLSessionDownloadURL": .string("http://a/1")])
      .encoded(as: .binary)
    guard case .corrupt = URLSessionResumeData.validity(of: bytes, given: facts) else {
      Issue.record("not corrupt")
      return
    }
  }
}
