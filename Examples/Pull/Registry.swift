import Downloads
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The name of an image, such as `http://localhost:5000/tools/editor:latest`.
struct Image {
  let host: String
  let name: String
  let tag: String

  init?(_ text: String) {
    guard let url = URL(string: text), let scheme = url.scheme, let host = url.host() else {
      return nil
    }
    let parts = url.path().dropFirst().split(separator: ":", maxSplits: 1)
    guard let name = parts.first else { return nil }
    self.host = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    self.name = String(name)
    tag = parts.count > 1 ? String(parts[1]) : "latest"
  }

  /// The URL of a manifest or a blob, with a tag or a digest.
  func url(_ kind: String, _ reference: String) -> String {
    "\(host)/v2/\(name)/\(kind)/\(reference)"
  }
}

/// The tokens and manifests of a registry (docs.docker.com, "Token authentication").
actor Registry: RequestAuthorizer {
  private let host: String
  private let transport: URLSessionTransport
  private var token: String?

  init(_ host: String, _ transport: URLSessionTransport) {
    self.host = host
    self.transport = transport
  }

  func authorize(
    _ request: TaskRequest,
    after refusal: ResponseHead?
  ) async throws -> TaskRequest {
    // The folder may have a blob that is also downloaded from another registry.
    guard request.url.hasPrefix("\(host)/") else { return request }
    if let challenge = refusal?["WWW-Authenticate"] { token = try await fetchToken(challenge) }
    var request = request
    if let authorization { request.headers.append(authorization) }
    return request
  }

  /// Fetches the manifest with a tag or a digest.
  func manifest(_ image: Image, _ reference: String) async throws -> Manifest {
    let accept = HeaderField(name: "Accept", value: Manifest.types.joined(separator: ", "))
    let url = image.url("manifests", reference)
    var document = try await transport.document(
      url,
      headers: [accept, authorization].compactMap(\.self)
    )
    if document.head.status == 401, let challenge = document.head["WWW-Authenticate"] {
      token = try await fetchToken(challenge)
      document = try await transport.document(
        url,
        headers: [accept, authorization].compactMap(\.self)
      )
    }
    guard document.head.status == 200 else {
      throw DownloadFailure(.rejected, "\(url): status \(document.head.status)")
    }
    return try Manifest(document)
  }

  private var authorization: HeaderField? {
    token.map { HeaderField(name: "Authorization", value: "Bearer \($0)") }
  }

  /// Fetches a token as a challenge says: `Bearer realm="https://auth/token",service="registry"`.
  private func fetchToken(_ challenge: String) async throws -> String {
    var values: [String: String] = [:]
    for pair in challenge.dropFirst("Bearer ".count).split(separator: ",") {
      let parts = pair.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      values[parts[0].trimmingCharacters(in: .whitespaces)] = parts[1].trimmingCharacters(in: ["\""]
      )
    }
    guard let realm = values.removeValue(forKey: "realm"), var url = URL(string: realm) else {
      throw DownloadFailure(.refused, "no token for the challenge '\(challenge)'")
    }
    url.append(queryItems: values.sorted { $0.key < $1.key }.map(URLQueryItem.init(name:value:)))
    let document = try await transport.document(url.absoluteString)
    guard document.head.status == 200 else {
      throw DownloadFailure(.refused, "\(realm): status \(document.head.status)")
    }
    return try JSONDecoder().decode(Token.self, from: document.body).token
  }

  private struct Token: Decodable {
    var token: String
  }
}
