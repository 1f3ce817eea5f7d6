import Foundation
import ResumeData
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// What earlier responses have shown of a file that a background session delivers.
struct EarlierResponseTests {
  private static func record(
    _ change: (inout DownloadRecord) -> Void = { _ in }
  ) -> DownloadRecord {
    var record = DownloadRecord.sample()
    record.state = .running
    change(&record)
    return record
  }

  private static func resumeData(
    received: Int64,
    tag: String? = "\"1\"",
    date: String? = nil
  ) throws -> Data {
    let draft = URLSessionResumeData.Draft(
      url: "https://example.com/a",
      received: received,
      file: .temporaryName("CFNetworkDownload_aaaaaa.tmp"),
      entityTag: tag,
      lastModified: date
    )
    return Data(try URLSessionResumeData(draft, form: .keyedArchive).bytes)
  }

  @Test func `a task that has received nothing has no earlier response`() throws {
    #expect(EarlierResponse(ofTaskOf: Self.record(), held: 0, total: nil) == nil)
    let empty = try Self.resumeData(received: 0)
    let record = Self.record { $0.resumeData = empty }
    #expect(EarlierResponse(ofTaskOf: record, held: 0, total: nil) == nil)
  }

  @Test(
    arguments: [(0, 200, false), (0, 206, false), (1, 200, true), (0, 404, true)]
      as [(Int64, Int, Bool)]
  )
  func `an empty body that an adopted task has delivered is not believed`(
    byteCount: Int64,
    status: Int,
    isBelieved: Bool
  ) throws {
    let earlier = try #require(
      EarlierResponse(ofTaskOf: Self.record(), held: 0, total: nil, isAdopted: true)
    )
    let head = ResponseHead(status: status, fields: [])
    #expect((earlier.contradiction(of: head, byteCount: byteCount) == nil) == isBelieved)
  }

  @Test func `resume data states the bytes and the validator`() throws {
    let data = try Self.resumeData(received: 40)
    let record = Self.record { $0.resumeData = data }
    let found = try #require(EarlierResponse(ofTaskOf: record, held: 0, total: nil))
    #expect(found.byteCount == 40 && found.validator?.entityTag == "\"1\"")
    #expect(EarlierResponse(ofTaskOf: record, held: 70, total: 100)?.byteCount == 70)
  }

  @Test func `a record that has a validator and no byte has adopted a task with bytes`() throws {
    let record = Self.record { $0.entityTag = "\"1\"" }
    #expect(EarlierResponse(ofTaskOf: record, held: 0, total: nil)?.byteCount == 1)
  }

  @Test(
    arguments: [
      // Nothing, whatever the server says about it.
      (0, 200, "\"1\"", false), (0, 200, "\"2\"", false), (0, 200, nil, false),
      (0, 206, "\"1\"", false),
      // The same file, with another size.
      (39, 200, "\"1\"", false), (99, 200, "\"1\"", false),
      (100, 200, "\"1\"", true), (100, 206, "\"1\"", true),
      // Another file.
      (39, 200, "\"2\"", true), (39, 200, nil, true), (39, 200, "W/\"1\"", true),
      // An error page is judged by its status.
      (0, 404, nil, true), (0, 503, "\"1\"", true),
    ] as [(Int64, Int, String?, Bool)]
  )
  func `a delivered body must not contradict an earlier response`(
    byteCount: Int64,
    status: Int,
    tag: String?,
    isPossible: Bool
  ) throws {
    let record = Self.record { $0.entityTag = "\"1\"" }
    let earlier = try #require(EarlierResponse(ofTaskOf: record, held: 40, total: 100))
    let fields = tag.map { [HeaderField(name: "ETag", value: $0)] } ?? []
    let failure = earlier.contradiction(
      of: ResponseHead(status: status, fields: fields),
      byteCount: byteCount
    )
    #expect((failure == nil) == isPossible)
    #expect(failure.map { $0.code == .badResponse } ?? true)
  }
}
