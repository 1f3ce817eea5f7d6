import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

struct StatusTextTests {
  @Test(
    arguments: [
      (202, "the server does not have the file yet (202 Accepted)"),
      (204, "the server answered without the file (204 No Content)"),
      (302, "the server redirects without a usable target (302 Found)"),
      (304, "the server did not send the file (304 Not Modified)"),
      (400, "the server rejected the request (400 Bad Request)"),
      (401, "the server requires a valid login (401 Unauthorized)"),
      (403, "the server denies access (403 Forbidden)"),
      (404, "the server has no such file (404 Not Found)"),
      (405, "the server rejected the request (405 Method Not Allowed)"),
      (407, "the proxy requires a valid login (407 Proxy Authentication Required)"),
      (408, "the server waited too long for the request (408 Request Timeout)"),
      (410, "the file was removed from the server (410 Gone)"),
      (418, "the server rejected the request (418)"),
      (429, "the server has received too many requests (429 Too Many Requests)"),
      (
        451,
        "the server may not deliver the file for legal reasons (451 Unavailable For Legal Reasons)"
      ), (500, "the server has failed (500 Internal Server Error)"),
      (502, "the server has no answer from a server behind it (502 Bad Gateway)"),
      (503, "the server cannot answer at the moment (503 Service Unavailable)"),
      (504, "the server has no answer from a server behind it (504 Gateway Timeout)"),
      (599, "the server has failed (599)"),
    ]
  )
  func `the message of a status says what it means, with its number and name`(
    _ status: Int,
    _ sentence: String
  ) {
    let head = ResponseHead(status: status, fields: [], url: "http://h/x")
    let verdict = ResponseVerdict(head, offset: 0, expected: nil, validator: nil, now: .now)
    guard case .fail(let failure, _) = verdict else {
      Issue.record("\(status) is no failure")
      return
    }
    #expect(failure.message == sentence)
  }

  @Test func `a refused request for the whole file has its own sentence`() {
    let head = ResponseHead(status: 416, fields: [], url: "http://h/x")
    let verdict = ResponseVerdict(head, offset: 0, expected: nil, validator: nil, now: .now)
    let message = "the server rejected a request for all bytes (416 Range Not Satisfiable)"
    #expect(verdict == .fail(DownloadFailure(.rejected, message), retryAfter: nil))
  }
}
