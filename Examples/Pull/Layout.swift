import Crypto
import Downloads
import Foundation

/// A reference to a blob or a manifest (OCI image format, "descriptor").
struct Descriptor: Codable {
  struct Platform: Codable {
    var architecture: String
    var os: String
  }

  var mediaType: String
  var digest: String
  var size: Int64
  var platform: Platform?

  var isForThisMachine: Bool {
    #if arch(arm64)
      let architecture = "arm64"
    #else
      let architecture = "amd64"
    #endif
    return platform?.os == "linux" && platform?.architecture == architecture
  }
}

/// A manifest, or a list of the manifests for several platforms, with its bytes.
struct Manifest {
  struct Content: Decodable {
    var mediaType: String?
    var config: Descriptor?
    var layers: [Descriptor]?
    var manifests: [Descriptor]?

    /// The configuration and the layers, each once.
    var blobs: [Descriptor] {
      var seen: Set<String> = []
      return ([config].compactMap(\.self) + (layers ?? [])).filter {
        seen.insert($0.digest).inserted
      }
    }
  }

  static let types = [
    "application/vnd.oci.image.index.v1+json", "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
  ]

  let bytes: Data
  let content: Content
  let descriptor: Descriptor

  init(_ document: Document) throws {
    bytes = document.body
    content = try JSONDecoder().decode(Content.self, from: bytes)
    let hexadecimal = SHA256.hash(data: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    descriptor = Descriptor(
      mediaType: content.mediaType ?? document.head["Content-Type"] ?? Self.types[1],
      digest: "sha256:" + hexadecimal.joined(),
      size: Int64(bytes.count)
    )
  }
}

/// A folder with the OCI image layout.
struct Layout {
  /// The folder of the blobs, which are named by their digests.
  static let folder = "blobs/sha256"

  let folder: URL

  /// Writes manifests, and last the index, which makes the image visible.
  func write(_ manifests: [Manifest], pulled: Descriptor) throws {
    for manifest in manifests {
      let name = manifest.descriptor.digest.dropFirst("sha256:".count)
      try write(manifest.bytes, to: "\(Self.folder)/\(name)")
    }
    try write(Data(#"{"imageLayoutVersion": "1.0.0"}"#.utf8), to: "oci-layout")
    try write(try JSONEncoder().encode(Index(manifests: [pulled])), to: "index.json")
  }

  private func write(_ data: Data, to path: String) throws {
    try data.write(to: folder.appending(path: path), options: .atomic)
  }

  private struct Index: Encodable {
    var schemaVersion = 2
    var manifests: [Descriptor]
  }
}
