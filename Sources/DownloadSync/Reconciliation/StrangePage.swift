internal import DownloadStore

extension ResponseHead {
  /// Whether the response is a web page that has nothing to do with a file whose validator is known,
  /// such as the login page of a network or of a site.
  ///
  /// A new version of the file would state another validator. The page states none, although a
  /// server had stated one before, it has another size, and the name of the file is not that of a page.
  /// Such a response is a failed attempt, and the bytes stay: the network may return to normal.
  ///
  /// - Parameters:
  ///   - filename: The name of the file.
  ///   - size: The size of the file in bytes; `nil` if it is unknown.
  /// - Returns: Whether the response is such a page.
  func isStrangePage(insteadOf filename: String, ofSize size: Int64? = nil) -> Bool {
    guard status == 200, contentRange?.range == nil,
      self["ETag"] == nil, self["Last-Modified"] == nil,
      size == nil || contentLength != size,
      let type = mediaType, ["text/html", "application/xhtml+xml"].contains(type),
      let dot = filename.lastIndex(of: ".")
    else { return false }
    let names = ["asp", "aspx", "cgi", "htm", "html", "jsp", "php", "shtml", "xht", "xhtml"]
    return !names.contains(filename[filename.index(after: dot)...].lowercased())
  }

  /// The failure of a response that ``isStrangePage(insteadOf:ofSize:)``.
  static var strangePage: DownloadFailure {
    DownloadFailure(
      .badResponse,
      "the server answered with a web page, perhaps a login page, in the place of the file"
    )
  }
}
