internal import DownloadMetalink
internal import DownloadStore
internal import Foundation

/// A Metalink document given on the command line.
struct MetalinkSource {
  /// The document's name in messages: a path, or a URL without secrets.
  let name: String
  let document: Metalink

  /// Reads a file, standard input for `-`, or the document at a URL.
  ///
  /// - Throws: ``CommandFailure``.
  init(_ place: String, _ client: ClientOptions) async throws {
    name = Redaction.url(place)
    let data: Data
    if Self.isURL(place) {
      data = try await DocumentFetch.read(place, upTo: Metalink.longest, client)
    } else {
      data = Data(try ResumeDataFile.read(place, upTo: Metalink.longest + 1))
    }
    do {
      document = try Metalink(data)
    } catch {
      throw CommandFailure(.damaged, "\(name): \(error.message)")
    }
  }

  /// Whether the text is a URL and not a path.
  static func isURL(_ place: String) -> Bool {
    let place = place.lowercased()
    return place.hasPrefix("http://") || place.hasPrefix("https://")
  }
}
