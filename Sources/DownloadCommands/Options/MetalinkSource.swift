internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadMetalink
internal import DownloadStore
internal import Foundation

/// The path of a file that an option reads.
enum LocalFile {
  /// Throws if the text is a URL, whose credentials a message about a missing file would repeat.
  ///
  /// - Parameters:
  ///   - path: The value of the option.
  ///   - option: The option with its dashes.
  ///   - orURL: Whether the option accepts `http` and `https` URLs, too, of which this is none.
  /// - Throws: `ValidationError`.
  static func validate(
    _ path: String,
    _ option: String,
    orURL: Bool = false
  ) throws(ValidationError) {
    guard path.contains("://") else { return }
    let shown = Redaction.argument(path)
    throw ValidationError(
      orURL
        ? "\(option) reads a local file or an http or https URL, not '\(shown)'."
        : "\(option) reads a local file: download '\(shown)' first."
    )
  }
}

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
    name = Self.isURL(place) ? Redaction.url(place) : place
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
