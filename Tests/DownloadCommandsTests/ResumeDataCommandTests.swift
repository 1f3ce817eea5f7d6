import CommandTestSupport
import DownloadStore
import Foundation
import ResumeData
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct ResumeDataCommandTests {
  private let folder: TemporaryFolder
  private let golden: String

  init() throws {
    folder = try TemporaryFolder()
    golden =
      URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "ResumeDataTests/Fixtures/ios10.plist").path
  }

  /// Resume data with secrets in every possible field.
  private func secretFile(_ form: URLSessionResumeData.Form = .keyedArchive) throws -> String {
    var draft = URLSessionResumeData.Draft(
      url: "https://user:hunter2@a/1?token=hunter2",
      received: 7,
      file: .temporaryName("CFNetworkDownload_x.tmp"),
      entityTag: "\"1\""
    )
    draft.originalRequest = .init(url: "https://user:hunter2@a/1?X-Amz-Signature=hunter2")
    draft.currentRequest = .init(
      url: "https://b/2#access_token=hunter2",
      headers: [
        .init(name: "Authorization", value: "Bearer hunter2"),
        .init(name: "Cookie", value: "hunter2"), .init(name: "Accept", value: "*/*"),
        .init(name: "Referer", value: "https://c/?sig=hunter2"),
      ]
    )
    let path = folder.path("secret")
    try Data(try URLSessionResumeData(draft, form: form).bytes).write(to: URL(filePath: path))
    return path
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  // MARK: Showing

  @Test func `the golden sample is shown as text`() async {
    let result = await dlstore("resume-data", golden)
    #expect(result.status == .done)
    let url =
      "http://sbslive.cnrmobile.com/storage/storage2/18/01/18/46eeb50b3f21325a6f4bd0e8ba4d2357.3gp"
    #expect(
      result.lines == [
        "form          xml, 5311 bytes", "version       2", "url           \(url)",
        "received      68188 bytes", "entity tag    \"5534b35d-7c7be1\"",
        "modified      Mon, 20 Apr 2015 08:05:49 GMT",
        "partial file  CFNetworkDownload_JhfLFD.tmp", "original      GET \(url)",
        "current       GET \(url)",
        "header        User-Agent: ZYLDownloader/1 CFNetwork/808.0.2 Darwin/16.0.0",
        "header        Accept: */*", "header        Accept-Language: en-us",
        "header        Accept-Encoding: gzip, deflate", "repair        ios10 would change it",
      ]
    )
  }

  @Test func `the golden sample is shown as JSON with the documented keys`() async throws {
    let result = await dlstore("resume-data", "--json", golden)
    #expect(result.status == .done)
    let object = try object(result.output)
    #expect(
      Set(object.keys).isSuperset(of: [
        "form", "version", "url", "received", "etag", "lastModified", "tempFileName", "localPath",
        "byteRange", "requests", "defects",
      ])
    )
    #expect(object["form"] as? String == "xml")
    #expect(object["version"] as? Int == 2)
    #expect(object["received"] as? Int == 68_188)
    #expect(object["etag"] as? String == "\"5534b35d-7c7be1\"")
    #expect(object["tempFileName"] as? String == "CFNetworkDownload_JhfLFD.tmp")
    #expect(object["localPath"] is NSNull)
    #expect(object["byteRange"] is NSNull)
    #expect((object["defects"] as? [Any])?.isEmpty == true)
    #expect(object["repairs"] as? [String] == ["ios10"])
    let requests = try #require(object["requests"] as? [String: [String: Any]])
    #expect(requests["current"]?["method"] as? String == "GET")
    #expect(requests["original"]?["url"] as? String == object["url"] as? String)
    let headers = try #require(requests["current"]?["headers"] as? [String: String])
    #expect(headers["Accept-Language"] == "en-us")
  }

  @Test(arguments: URLSessionResumeData.Form.allCases)
  func `secrets are shown only on request`(form: URLSessionResumeData.Form) async throws {
    let file = try secretFile(form)
    for arguments in [["resume-data", file], ["resume-data", "--json", file]] {
      let hidden = await dlstore(arguments)
      #expect(hidden.status == .done)
      #expect(!hidden.output.contains("hunter2"))
      #expect(hidden.output.contains("*/*"))
      #expect(hidden.output.contains(Redaction.mark))
      let shown = await dlstore(arguments + ["--reveal-secrets"])
      #expect(shown.output.components(separatedBy: "hunter2").count == 9)
    }
  }

  @Test(arguments: [
    -0x1p63, 0x1p63, -0x1p62, .nan, .infinity, -.infinity, .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
  ])
  func `numbers and dates out of range are shown`(number: Double) async throws {
    let list = PropertyList.dictionary([
      "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
      "$top": .dictionary(["NSKeyedArchiveRootObjectKey": .uid(1)]),
      "$objects": .array([
        .string("$null"),
        .dictionary([
          "NS.keys": .array([.uid(2), .uid(4), .uid(6), .uid(8)]),
          "NS.objects": .array([.uid(3), .uid(5), .uid(7), .uid(9)]),
        ]),
        .string("NSURLSessionDownloadURL"), .string("http://a/1"), .string("date"), .date(number),
        .string("NSURLSessionResumeBytesReceived"), .integer(Int128(Int64.min)), .string("real"),
        .real(number),
      ]),
    ])
    let file = folder.path("extreme")
    try Data(try list.encoded(as: .binary)).write(to: URL(filePath: file))
    let text = await dlstore("resume-data", file)
    #expect(text.status == .done, "\(text.messages)")
    #expect(text.output.contains("http://a/1"))
    #expect(await dlstore("resume-data", "--json", file).status == .done)
    let repaired = await dlstore("resume-data", file, "--repair", "ios10", "-o", file + "2")
    // XML dates are limited to the years 0 to 9999.
    #expect([.done, .failed].contains(repaired.status), "\(repaired.messages)")
  }

  @Test func `invalid contents are reported`() async throws {
    let list = try PropertyList.dictionary(["NSURLSessionResumeBytesReceived": .integer(-1)])
      .encoded(as: .xml)
    let file = try folder.makeFile("defects", String(decoding: list, as: UTF8.self))
    let text = await dlstore("resume-data", file)
    #expect(text.status == .done)
    #expect(text.output.contains("missingURL: it names no URL; unusable"))
    let object = try object(await dlstore("resume-data", "--json", file).output)
    let defects = try #require(object["defects"] as? [[String: Any]])
    #expect(defects.first?["code"] as? String == "missingURL")
    #expect(defects.first?["fatal"] as? Bool == true)
    #expect(object["url"] is NSNull)
    let requests = try #require(object["requests"] as? [String: Any])
    #expect(requests["current"] is NSNull)
  }

  @Test func `characters that control a terminal are not shown`() async throws {
    let file = try folder.makeFile(
      "escape",
      "<plist><dict><key>NSURLSessionResumeEntityTag</key><string>a&#x9b;2Jb</string></dict></plist>"
    )
    let result = await dlstore("resume-data", file)
    #expect(result.output.contains("a\u{FFFD}2Jb"))
  }

  // MARK: Invalid input

  @Test(
    arguments: [
      "", "no property list", "<plist><dict/></plist>", "<plist><dict>",
      "<plist><string>NSURLSessionDownloadURL</string></plist>",
    ]
  )
  func `a file that is not resume data exits with 65`(text: String) async throws {
    let file = try folder.makeFile("file", text)
    for arguments in [[file], ["--json", file], ["--repair", "ios10", "-o", "-", file]] {
      let result = await dlstore(["resume-data"] + arguments)
      #expect(result.status == .damaged)
      #expect(result.output == "")
      #expect(result.messages.hasPrefix("dlstore: "))
    }
  }

  @Test func `a large file is not read to its end`() async throws {
    let result = await dlstore("resume-data", "/dev/zero")
    #expect(result.status == .damaged)
  }

  @Test func `an unreadable file exits with its own status`() async {
    #expect(await dlstore("resume-data", folder.path("nothing")).status == .notFound)
    #expect(await dlstore("resume-data", folder.path).status == .usage)
  }

  @Test(
    arguments: [
      [], ["f", "--repair", "ios10"], ["f", "-o", "x"], ["f", "--repair", "ios12", "-o", "x"],
      ["f", "--repair", "v1", "-o", "x"], ["f", "--directory", "/d"],
      ["f", "--repair", "ios10", "--directory", "/d", "-o", "x"],
      ["f", "--json", "--repair", "ios10", "-o", "x"],
    ]
  )
  func `invalid arguments are rejected`(arguments: [String]) async {
    #expect(await dlstore(["resume-data"] + arguments).status == .usage)
  }

  // MARK: Repairing

  @Test func `the golden sample is repaired for iOS 10`() async throws {
    let output = folder.path("repaired")
    let result = await dlstore("resume-data", golden, "--repair", "ios10", "-o", output)
    #expect(
      result == CommandResult(status: .done, output: "", messages: "dlstore: repaired for ios10\n")
    )
    let repaired = try Array(Data(contentsOf: URL(filePath: output)))
    let original = try Array(Data(contentsOf: URL(filePath: golden)))
    #expect(try URLSessionResumeData(original).prepared(for: .iOS10).bytes == repaired)
    #expect(FileIdentity(ofFileAt: output)?.size == Int64(repaired.count))
    let attributes = try FileManager.default.attributesOfItem(atPath: output)
    #expect(attributes[.posixPermissions] as? Int == 0o600)

    let again = await dlstore("resume-data", output, "--repair", "ios10", "-o", "-")
    #expect(again.messages == "dlstore: needed no repair for ios10\n")
    #expect(Array(again.output.utf8) == repaired)
  }

  @Test func `a repair replaces no existing file`() async throws {
    let output = try folder.makeFile("there", "mine")
    let result = await dlstore("resume-data", golden, "--repair", "ios10", "-o", output)
    #expect(result.status == .cannotCreate)
    #expect(try String(contentsOfFile: output, encoding: .utf8) == "mine")
    let nowhere = folder.path("no/such/folder")
    let missing = await dlstore("resume-data", golden, "--repair", "ios10", "-o", nowhere)
    #expect(missing.status == .cannotCreate)
  }

  @Test func `a version 1 path moves to a folder`() async throws {
    let draft = URLSessionResumeData.Draft(
      url: "http://a/1",
      received: 7,
      file: .localPath("/old/x.tmp")
    )
    let file = folder.path("version1")
    try Data(try URLSessionResumeData(draft, form: .xml).bytes).write(to: URL(filePath: file))
    let result = await dlstore(
      "resume-data",
      file,
      "--repair",
      "v1",
      "--directory",
      "/new",
      "-o",
      "-"
    )
    #expect(result.status == .done)
    #expect(result.output.contains("<string>/new/x.tmp</string>"))
  }

  @Test func `the byte range is removed for iOS 11`() async throws {
    let file = try folder.makeFile(
      "range",
      """
      <plist><dict><key>NSURLSessionResumeByteRange</key><string>0-5</string>\
      <key>NSURLSessionDownloadURL</key><string>http://a/1</string></dict></plist>
      """
    )
    let result = await dlstore("resume-data", file, "--repair", "ios11", "-o", "-")
    #expect(result.status == .done)
    #expect(!result.output.contains("ByteRange"))
  }

  @Test func `a request that cannot be repaired exits with 1 and writes nothing`() async throws {
    var request = try URLRequestArchive(url: "http://a/1").archive.propertyList
    guard case .dictionary(var members) = request, case .array(var objects)? = members["$objects"],
      case .dictionary(var root) = objects[1]
    else {
      Issue.record("the sample has no request archive")
      return
    }
    root["$2"] = .integer(3)
    objects[1] = .dictionary(root)
    members["$objects"] = .array(objects)
    request = .dictionary(members)
    let list = PropertyList.dictionary([
      "NSURLSessionDownloadURL": .string("http://a/1"),
      "NSURLSessionResumeCurrentRequest": .data(try request.encoded(as: .binary)),
    ])
    let file = folder.path("guarded")
    try Data(try list.encoded(as: .binary)).write(to: URL(filePath: file))
    let output = folder.path("output")
    let result = await dlstore("resume-data", file, "--repair", "ios10", "-o", output)
    #expect(result.status == .failed)
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  @Test func `resume data is read from and written to pipes`() async throws {
    let command =
      "dlstore resume-data - --repair ios10 -o - < '\(golden)' | dlstore resume-data --json -"
    let result = try await DLStoreProcess.run(store: folder.path("store"), shell: command)
    #expect(result.status == 0)
    #expect(try object(result.output)["repairs"] as? [String] == [])
  }
}
