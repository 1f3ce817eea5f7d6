internal import DownloadStore

/// Where the name of a file comes from that nobody has named.
///
/// A name that somebody gave stays, and so does that of a file whose place the next one takes.
public enum FileNaming: String, Sendable, Hashable, CaseIterable {
  /// The URL suggests it, so that it is known from the start.
  case fromURL
  /// The response names it in `Content-Disposition` (RFC 6266).
  ///
  /// Where it does not, the URL does, and where that has no extension, one for the `Content-Type` is
  /// put behind it. The name is made harmless, and numbered as any other.
  case fromResponse

  /// What a response calls the file of a URL; `nil` when it keeps the name that the URL suggests.
  func name(forURL url: String, _ head: ResponseHead) -> String? {
    guard self == .fromResponse else { return nil }
    if let given = head.suggestedFilename { return given }
    let suggested = SafeFilename.suggested(byURL: url)
    guard !suggested.contains("."), let type = head.mediaType,
      let ext = MediaType.filenameExtension(of: type)
    else { return nil }
    return SafeFilename.sanitized("\(suggested).\(ext)")
  }
}
