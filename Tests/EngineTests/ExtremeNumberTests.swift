import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import Testing

/// Responses with numbers at the ends of their types, through a whole engine.
@Suite(.timeLimit(.minutes(10)))
struct ExtremeNumberTests {
  /// The status and the fields of responses with a number.
  private static func responses(with number: String) -> [(status: Int, fields: [String: String])] {
    [
      (200, ["Content-Length": number]),
      (200, ["Content-Length": "\(number), \(number)"]),
      (200, ["Content-Length": "3", "Content-Range": "bytes 0-2/\(number)"]),
      (206, ["Content-Range": "bytes 3-5/\(number)"]),
      (206, ["Content-Range": "bytes 0-\(number)/*"]),
      (206, ["Content-Range": "bytes 3-\(number)/\(number)", "Content-Length": number]),
      (206, ["Content-Range": "bytes \(number)-\(number)/*"]),
      (416, ["Content-Range": "bytes */\(number)"]),
      (429, ["Retry-After": number]),
      (503, ["Retry-After": number, "Content-Length": number]),
      (404, ["Content-Length": number, "Content-Range": "bytes */\(number)"]),
    ]
  }

  @Test(
    arguments: [
      "1152921504606846976", "1152921504606846977", "9223372036854775806", "9223372036854775807",
      "9223372036854775808", "18446744073709551615", "18446744073709551616",
      "99999999999999999999999999", "-9223372036854775808", "-1", "1e400",
    ],
    [0, 3]
  )
  func `a number of a response ends at most its attempt`(number: String, received: Int) async throws
  {
    let fixture = try ManualFixture()
    let responses = Self.responses(with: number)
    for index in responses.indices {
      let name = "f\(index)"
      try fixture.add(name)
      guard received > 0 else { continue }
      try fixture.change(name, partial: received) { record in
        record.received = Int64(received)
        record.entityTag = "\"1\""
      }
    }
    let engine = try fixture.engine(responses.count)
    try await fixture.running(engine) {
      var answeredCount = 0
      try await waitUntil("the end of an attempt of each download") {
        // A server that disregards `If-Range` is asked twice in one attempt.
        let started = fixture.transport.started
        for task in started.dropFirst(answeredCount) { try Self.answer(task, responses) }
        answeredCount = started.count
        return try responses.indices.allSatisfy { index in
          let record = try fixture.record("f\(index)")
          return !record.attempts.isEmpty || record.state == .completed
        }
      }
      for (index, response) in responses.enumerated() {
        let record = try fixture.record("f\(index)")
        // An invalid Content-Range of a 200 is ignored, and the body has the declared length.
        let isWhole = response.fields["Content-Length"] == "3"
        #expect((record.state != .completed || isWhole) && record.received <= 6)
        #expect(record.expected.map { (0...(1 << 60)).contains($0) } ?? true)
        let limit = Date(timeIntervalSinceNow: 86_400 * 366)
        #expect(record.nextRetryAt.map { $0 < limit } ?? true)
      }
    }
  }

  private static func answer(
    _ task: ManualTransport.Started,
    _ responses: [(status: Int, fields: [String: String])]
  ) throws {
    let index = try #require(Int(task.request.url.split(separator: "/f").last ?? ""))
    let fields = responses[index].fields.map { HeaderField(name: $0.key, value: $0.value) }
    let head = ResponseHead(
      status: responses[index].status,
      fields: fields + [HeaderField(name: "ETag", value: "\"1\"")],
      url: task.request.url
    )
    guard task.sink.receive(head) == .proceed else { return task.sink.finish(.cancelled) }
    _ = task.sink.receive([1, 2, 3].span)
    task.sink.finish(.completed)
  }
}
