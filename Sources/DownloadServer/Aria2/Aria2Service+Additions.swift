internal import DownloadMetalink
internal import DownloadStore
internal import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Aria2Service {
  /// `aria2.addUri`: adds a download; a known URL keeps its download, which continues.
  func addURIs(_ parameters: Aria2Parameters) throws -> JSONValue {
    let given = try parameters.strings(0)
    let members = try parameters.optionalObject(1)
    let position = try parameters.optionalPosition(2)
    guard let first = given.first else { throw Aria2Error("URI is not provided.") }
    // aria2 lists a URL once for each of its connections.
    var seen: Set<StoredText> = []
    let urls = given.filter { Self.isUsable($0) && seen.insert(StoredText($0)).inserted }
    guard let url = urls.first else {
      throw Aria2Error(
        "'\(Redaction.argument(first))' cannot be downloaded: only http and https URLs are supported"
      )
    }
    var request = DownloadRequest(url: url)
    request.mirrors = Array(urls.dropFirst())
    try Aria2Options(members, for: url).apply(to: &request, store.roots())
    return .string(try add([request], at: position)[0])
  }

  /// `aria2.addMetalink`: adds the files of a document, which is in Base64.
  func addMetalink(_ parameters: Aria2Parameters) throws -> JSONValue {
    let text = try parameters.string(0)
    let members = try parameters.optionalObject(1)
    let position = try parameters.optionalPosition(2)
    guard let data = Data(base64Encoded: text) else {
      throw Aria2Error("the Metalink document is not in Base64")
    }
    let document = try Metalink(data)
    guard !document.files.isEmpty else {
      throw Aria2Error(
        "the Metalink document has no file that can be downloaded"
          + (document.skipped.first.map { ": \($0.reason)" } ?? "")
      )
    }
    let roots = try store.roots()
    let requests = try document.files.map { file in
      var request = DownloadRequest(file)
      let (digest, name) = (request.digest, request.filename)
      try Aria2Options(members, for: request.url).apply(to: &request, roots)
      // Those of the document are about this file; the options are about all.
      (request.digest, request.filename) = (digest, name)
      return request
    }
    return .array(try add(requests, at: position).map(JSONValue.string))
  }

  /// Adds downloads, and moves them to a position of the queue.
  ///
  /// - Returns: Their GIDs.
  private func add(_ requests: [DownloadRequest], at position: Int?) throws -> [String] {
    for case let id? in requests.map(\.id) {
      guard try store.records(DownloadRecord.where { $0.id == id }.limit(1)).isEmpty else {
        throw Aria2Error("GID \(id) is not unique.")
      }
    }
    let added = try store.addNow(requests)
    for added in added where !added.isNew { retries.note(added.record.id) }
    if let position {
      for (offset, added) in added.enumerated() where added.record.state == .waiting {
        _ = try move(added.record, to: position + offset)
      }
    }
    return added.map(\.record.id)
  }

  private static func isUsable(_ url: String) -> Bool {
    let scheme = url.prefix { $0 != ":" }.lowercased()
    return scheme == "http" || scheme == "https"
  }

  /// `aria2.changeUri`: removes and adds URLs.
  func changeURIs(_ parameters: Aria2Parameters) throws -> JSONValue {
    let gid = try parameters.string(0)
    guard try parameters.integer(1) == 1 else { throw Aria2Error("fileIndex is out of range") }
    let (removed, added) = (try parameters.strings(2), try parameters.strings(3))
    let position = try parameters.optionalPosition(4)
    let counts = try store.changeSources(
      matching: try record(gid).url,
      removing: removed,
      adding: added.filter(Self.isUsable),
      at: position
    )
    return .array([.integer(Int64(counts.removed)), .integer(Int64(counts.added))])
  }
}
