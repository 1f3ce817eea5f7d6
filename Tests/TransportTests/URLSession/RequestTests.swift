import DownloadSync
import Foundation
import TestTraits
import Testing

@testable import DownloadURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The requests that a session sends.
@Suite struct RequestTests {
  @Test(.requirements("FK3"), arguments: [true, false])
  func `a request and its redirects honor allowsCellular`(
    allowsCellular: Bool
  ) throws {
    let request = TaskRequest(
      url: "https://h/a",
      recordID: "r",
      allowsCellular: allowsCellular
    )
    let prepared = try PreparedRequest(request)
    #expect(try prepared.urlRequest.allowsCellularAccess == allowsCellular)
    guard case .follow(let next) = RedirectDecision(prepared, to: "https://other/b") else {
      Issue.record("refused")
      return
    }
    #expect(try next.urlRequest.allowsCellularAccess == allowsCellular)
  }
}
