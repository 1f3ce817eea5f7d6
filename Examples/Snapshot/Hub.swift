import Downloads
import Foundation

/// A model and its revision, such as `https://huggingface.co/org/model@main`.
struct Model {
  let hub: String
  let name: String
  let revision: String

  init?(_ text: String) {
    guard let url = URL(string: text), let scheme = url.scheme, let host = url.host() else {
      return nil
    }
    let parts = url.path().dropFirst().split(separator: "@", maxSplits: 1).map(String.init)
    guard let name = parts.first, name.split(separator: "/").count == 2 else { return nil }
    hub = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    self.name = name
    revision = parts.count > 1 ? parts[1] : "main"
  }
}

/// A file of a revision, as the hub lists it.
struct HubFile: Decodable {
  struct Large: Decodable {
    /// The SHA-256 of the file.
    var oid: String
  }

  var type: String
  var path: String
  var size: Int64
  /// The object id of git.
  var oid: String
  var lfs: Large?

  /// The name of the file with the contents.
  var blob: String { lfs?.oid ?? oid }

  /// Whether the names cannot lead out of the cache.
  var isSafe: Bool {
    blob.allSatisfy(\.isHexDigit) && !path.split(separator: "/").contains("..")
  }
}

/// The API of a hub.
struct Hub {
  private let model: Model
  private let transport: URLSessionTransport
  private let headers: [HeaderField]

  init(_ model: Model, _ transport: URLSessionTransport, token: String?) {
    self.model = model
    self.transport = transport
    headers = token.map { [HeaderField(name: "Authorization", value: "Bearer \($0)")] } ?? []
  }

  /// The commit of the revision.
  func commit() async throws -> String {
    struct Revision: Decodable { var sha: String }
    let revision: Revision = try await value("revision/\(model.revision)")
    return revision.sha
  }

  /// The files of a commit.
  func files(of commit: String) async throws -> [HubFile] {
    let entries: [HubFile] = try await value("tree/\(commit)?recursive=true")
    if let entry = entries.first(where: { !$0.isSafe }) {
      throw DownloadFailure(.rejected, "the hub lists a file '\(entry.path)'")
    }
    return entries.filter { $0.type == "file" }
  }

  /// The download of a file.
  ///
  /// The hub redirects it to a URL that expires. Each attempt follows the redirect again.
  func request(for file: HubFile, of commit: String) throws -> DownloadRequest {
    let path = file.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? file.path
    var request = DownloadRequest(url: "\(model.hub)/\(model.name)/resolve/\(commit)/\(path)")
    // Files of several revisions may have the same contents.
    request.key = file.blob
    request.byteCount = file.size > 0 ? file.size : nil
    request.headers = headers
    request.folder = Cache.blobs
    request.filename = file.blob
    request.digest = try file.lfs.map { large in try Digest("sha256:\(large.oid)") }
    return request
  }

  private func value<Value: Decodable>(_ path: String) async throws -> Value {
    let url = "\(model.hub)/api/models/\(model.name)/\(path)"
    let document = try await transport.document(url, headers: headers, limit: 64 << 20)
    guard document.head.status == 200 else {
      throw DownloadFailure(.rejected, "\(url): status \(document.head.status)")
    }
    return try JSONDecoder().decode(Value.self, from: document.body)
  }
}
