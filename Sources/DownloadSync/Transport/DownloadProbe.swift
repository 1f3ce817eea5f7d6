public import DownloadStore
internal import Foundation

/// What a server says about a file before it is downloaded.
///
/// ```swift
/// let probe = try await transport.probe("https://example.com/model.bin")
/// print(probe.filename, probe.byteCount ?? 0, probe.url)
/// ```
public struct DownloadProbe: Sendable, Hashable {
  /// The URL of the response, after redirects.
  public var url: String
  /// The name that a download without a given name has: that of the response, else that of the
  /// requested URL; safe, and without a number.
  public var filename: String
  /// The size of the file in bytes; `nil` if the server does not state it.
  public var byteCount: Int64?
  /// The entity tag with its quotes; `nil` if there is none.
  public var entityTag: String?
  /// The value of `Last-Modified`; `nil` if there is none.
  public var lastModified: String?
  /// Whether the server sends ranges, so that an interrupted download can be resumed; `nil` if it
  /// does not say.
  public var acceptsRanges: Bool?

  /// Reads the head of a response with the whole file.
  ///
  /// - Parameters:
  ///   - head: The status and fields of the response.
  ///   - url: The requested URL.
  init(_ head: ResponseHead, of url: String) {
    self.url = head.url ?? url
    filename =
      FileNaming.fromResponse.name(forURL: url, head) ?? SafeFilename.suggested(byURL: url)
    byteCount = head.contentLength
    entityTag = head.storable("ETag")
    lastModified = head.storable("Last-Modified")
    acceptsRanges = head.acceptsRanges
  }
}

extension Transport {
  /// Asks a server about a file, and receives nothing of it.
  ///
  /// Sends a `HEAD`. A server that refuses it is asked for the first byte of the file, with a `GET`
  /// that ends at the head of the response. Otherwise as ``document(_:method:headers:followsRedirects:limit:)``:
  /// with the transport's proxies and certificates, the credentials of the URL and up to 20 redirects, and
  /// without retries.
  ///
  /// - Parameters:
  ///   - url: An absolute `http` or `https` URL.
  ///   - headers: Additional header fields, as in ``TaskRequest/headers``.
  /// - Returns: What the server says.
  /// - Throws: `DownloadFailure` with the code with which a download of the URL would fail;
  ///   `CancellationError`.
  public func probe(_ url: String, headers: [HeaderField] = []) async throws -> DownloadProbe {
    let received = try await wholeHead(of: url, headers: headers)
    let head = StoredCoding(names: [url], hasDigest: false).removed(from: received)
    if let failure = head.failure { throw failure }
    return DownloadProbe(head, of: url)
  }

  /// Asks the servers of several downloads, a few at a time; see ``probe(_:headers:)``.
  ///
  /// - Parameters:
  ///   - requests: The downloads, of which the URLs and the header fields count.
  ///   - maximumFileSize: The size of the largest file that is no failure; `nil` for any.
  /// - Returns: The answers in the order of the requests.
  /// - Throws: `CancellationError`.
  package func probes(
    of requests: [DownloadRequest],
    upTo maximumFileSize: Int64? = nil
  ) async throws -> [Result<DownloadProbe, DownloadFailure>] {
    try await ConcurrentRequests.results(of: requests) { request in
      let probe = try await probe(request.url, headers: request.headers)
      if let failure = SizeLimit(maximum: maximumFileSize).failure(ofFileOf: probe.byteCount) {
        throw failure
      }
      return probe
    }
  }

  /// Returns the head of the response to a `GET` of the whole file, without its body.
  ///
  /// The head of a refused `HEAD` is replaced by that of a range, with the size of the whole file.
  ///
  /// - Parameters:
  ///   - url: An absolute `http` or `https` URL.
  ///   - headers: The header fields to send.
  ///   - change: Changes the request, for example to a conditional one. A range has no such condition.
  /// - Returns: The head.
  /// - Throws: `DownloadFailure`; `CancellationError`.
  func wholeHead(
    of url: String,
    headers: [HeaderField],
    _ change: (inout TaskRequest) -> Void = { _ in }
  ) async throws -> ResponseHead {
    var request = TaskRequest(url: url, recordID: TaskRequest.noRecord, headers: headers)
    change(&request)
    request.method = .head
    let head = try await document(request, limit: 1) { _ in true }.document.head
    guard head.mayRefuseMethod else { return head }
    request.method = .get
    request.end = 1
    return try await document(request, limit: 1) { _ in false }.document.head.ofWholeFile
  }
}

extension ResponseHead {
  /// Whether the status may be that of the method alone.
  ///
  /// Servers without `HEAD` answer 405 or 501, but also 400, 404, 500 or 503. A signed URL is signed for
  /// one method, and forbids the other one with 403. A server that is asked too often is not asked again.
  fileprivate var mayRefuseMethod: Bool { status >= 400 && status != 407 && status != 429 }

  /// Whether the server sends ranges; `nil` if it does not say.
  fileprivate var acceptsRanges: Bool? {
    guard let units = list("Accept-Ranges") else { return nil }
    let names = units.split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces).lowercased()
    }
    return names.contains("bytes") ? true : names.contains("none") ? false : nil
  }

  /// The head with which the whole file is sent, made of that of the response to a request for its
  /// first byte.
  fileprivate var ofWholeFile: Self {
    let isEmpty = status == 416 && contentRange?.total == 0
    let isRange = status == 206 && contentRange?.range?.lowerBound == 0
    guard isEmpty || isRange || status == 200 else { return self }
    var head = self
    head.status = 200
    head.fields.removeAll { $0.name.lowercased() == "accept-ranges" }
    head.fields.append(HeaderField(name: "Accept-Ranges", value: status == 200 ? "none" : "bytes"))
    guard status != 200 else { return head }
    head.fields.removeAll { ["content-range", "content-length"].contains($0.name.lowercased()) }
    if let total = contentRange?.total {
      head.fields.append(HeaderField(name: "Content-Length", value: "\(total)"))
    }
    return head
  }

  /// The failure of a download that this response ends; `nil` if it has the file.
  var failure: DownloadFailure? {
    let verdict = ResponseVerdict(self, offset: 0, expected: nil, validator: nil, now: Date())
    return switch verdict {
    case .write, .startOver, .alreadyComplete: nil
    case .fail(let failure, _), .askAgainFromZero(let failure): failure
    case .askWithoutCondition: nil
    }
  }
}
