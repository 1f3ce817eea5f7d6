import Downloads
import Foundation

/// Pulls an image of an OCI registry into a folder with the OCI image layout.
///
///     pull http://localhost:5000/tool:latest FOLDER
///
/// Killed at any moment, it continues where it was when it runs again. Any number of processes may pull
/// into the same folder.
@main
struct Pull {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard let text = arguments.first, let image = Image(text),
      let folder = arguments.dropFirst().first
    else {
      print("usage: pull http[s]://HOST/NAME:TAG FOLDER")
      exit(64)
    }
    do {
      try await pull(image, into: URL(filePath: folder))
    } catch {
      print("pull: \(error)")
      exit(1)
    }
  }

  private static func pull(_ image: Image, into folder: URL) async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = try RecordStore(at: folder.appending(path: ".pull").path)
    try store.setRoot(folder.standardizedFileURL.path)
    let transport = URLSessionTransport()
    let registry = Registry(image.host, transport)

    var manifest = try await registry.manifest(image, image.tag)
    let pulled = manifest.descriptor
    var documents = [manifest]
    if let platform = manifest.content.manifests?.first(where: \.isForThisMachine) {
      manifest = try await registry.manifest(image, platform.digest)
      documents.append(manifest)
    }

    let blobs = manifest.content.blobs
    try await store.add(
      blobs.map { blob in
        let digest = try Digest(blob.digest)
        var request = DownloadRequest(digest: digest, urls: [image.url("blobs", blob.digest)])
        // An empty blob has no size to expect.
        if blob.size > 0 { request.byteCount = blob.size }
        request.folder = Layout.folder
        request.filename = digest.hexadecimal
        return request
      }
    )
    var options = EngineOptions(maximumRunning: 4)
    options.authorizer = registry
    // A kill costs at most the bytes since the last checkpoint.
    options.checkpointInterval = .milliseconds(200)
    var records: [DownloadRecord] = []
    for try await progress in store.downloads(
      .matching(blobs.map(\.digest)),
      transport: transport,
      options: options,
      every: .seconds(1)
    ) {
      let size = progress.expected ?? 0
      print(progress.isLeading ? "pulling" : "waiting", progress.received, "of", size, "bytes")
      records = progress.records
    }
    if let missing = records.first(where: { $0.state != .completed }) {
      throw missing.attempts.last?.failure
        ?? DownloadFailure(.unknown, "\(missing.url) was stopped")
    }
    try Layout(folder: folder).write(documents, pulled: pulled)
    print(pulled.digest)
  }
}
