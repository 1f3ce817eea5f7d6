internal import DownloadStore

/// The source of a file's name if the caller gave none.
///
/// A name that the caller gave is never changed. A file that replaces a finished one keeps the name
/// of that file.
public enum FileNaming: String, Sendable, Hashable, CaseIterable {
  /// The name is derived from the URL and known from the start.
  case fromURL
  /// The name is taken from the `Content-Disposition` of the response (RFC 6266).
  ///
  /// Without that field it is derived from the URL. If the derived name has no extension, the usual
  /// extension for the `Content-Type` is appended. The name is sanitized and, if it is already
  /// used, numbered.
  case fromResponse

  /// Returns the name that a response gives the file of a URL; `nil` to keep the name derived from
  /// the URL.
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
