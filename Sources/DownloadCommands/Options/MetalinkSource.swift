internal import DownloadMetalink
internal import DownloadStore
internal import Foundation

/// A Metalink document given on the command line.
struct MetalinkSource {
  /// The document's name in messages: a path, or a URL without secrets.
  let name: String
  let document: Metalink

  /// The URL of the document; `nil` for a file.
  let url: String?

  /// Reads a file, standard input for `-`, or the document at a URL.
  ///
  /// - Parameters:
  ///   - place: The path or the URL.
  ///   - headers: The header fields to send for a URL.
  ///   - client: The transport.
  /// - Throws: ``CommandFailure``.
  init(_ place: String, headers: [HeaderField], _ client: ClientOptions) async throws {
    url = Self.isURL(place) ? place : nil
    name = Redaction.url(place)
    let data: Data
    if Self.isURL(place) {
      data = try await DocumentFetch.read(
        place,
        headers: headers,
        upTo: Metalink.longest,
        client
      )
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
