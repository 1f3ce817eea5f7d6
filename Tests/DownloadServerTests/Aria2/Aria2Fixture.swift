import DownloadSync
import Foundation
import ObjectStore
import RecordTestSupport
import TestSupport
import Testing

@testable import DownloadServer
@testable import DownloadStore

/// A store with aria2's JSON-RPC over it.
struct Aria2Fixture {
  let folder: TemporaryFolder
  let store: RecordStore
  let service: Aria2Service
  /// The token of the service.
  static let token = "0123456789abcdef"

  init(allowsChanges: Bool = true) throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store")).refusingHiddenFolders()
    var service = Aria2Service(store: store, allowsChanges: allowsChanges) { $0 == Self.token }
    // A front end in a test may rest between the two calls of a retry.
    service.retries = RecentRetries(duration: .seconds(86_400))
    self.service = service
  }

  /// Returns the result of a call with the token; records an issue for an error.
  func result(
    _ method: String,
    _ parameters: String = "",
    _ live: Aria2Service.Live = .init(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> JSONValue {
    let answer = answer(method, parameters, live)
    return try #require(
      answer.json["result"],
      "\(String(decoding: answer.body, as: UTF8.self))",
      sourceLocation: sourceLocation
    )
  }

  /// Returns the message of the error of a call with the token.
  func message(_ method: String, _ parameters: String = "") -> String? {
    let answer = answer(method, parameters)
    guard case .string(let text)? = answer.json["error"]?["message"], answer.status == 400 else {
      return nil
    }
    return text
  }

  /// Returns the answer to a call with the token.
  func answer(
    _ method: String,
    _ parameters: String = "",
    _ live: Aria2Service.Live = .init()
  ) -> Aria2Answer {
    let list = ["\"token:\(Self.token)\"", parameters].filter { !$0.isEmpty }.joined(separator: ",")
    return answer(
      body: #"{"jsonrpc":"2.0","id":"1","method":"\#(method)","params":[\#(list)]}"#,
      live
    )
  }

  /// Returns the answer to the body of a POST request.
  func answer(body: String, _ live: Aria2Service.Live = .init()) -> Aria2Answer {
    answer(Aria2Request(body: Array(body.utf8)), live)
  }

  /// Returns the answer to a request.
  func answer(_ request: Aria2Request, _ live: Aria2Service.Live = .init()) -> Aria2Answer {
    var service = service
    return service.answer(request, live)
  }

  /// Adds downloads, and returns their ids.
  @discardableResult
  func add(_ urls: String..., body: (inout DownloadRequest) -> Void = { _ in }) throws -> [String] {
    let requests = urls.map { url in
      var request = DownloadRequest(url: url)
      body(&request)
      return request
    }
    return try store.addNow(requests).map(\.record.id)
  }

  /// Changes a record as an engine would.
  func change(_ url: String, _ body: (inout DownloadRecord) -> Void) throws {
    try store.objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: url) else { return }
      body(&record)
      try tx.upsert(record)
    }
  }

  /// Lets a download fail permanently.
  func fail(_ url: String, _ code: DownloadFailure.Code = .notFound) throws {
    try change(url) {
      $0.fail(DownloadFailure(code, "no \(url)"), from: url, at: Date()) { _ in nil }
    }
  }

  func record(_ url: String) throws -> DownloadRecord { try store.record(matching: url) }
}

extension JSONValue {
  /// The text of a string.
  var string: String? { if case .string(let text) = self { text } else { nil } }
  /// The elements of a list.
  var list: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
  /// The GIDs of a list of downloads.
  var gids: [String] { list.compactMap { $0["gid"]?.string } }
}
