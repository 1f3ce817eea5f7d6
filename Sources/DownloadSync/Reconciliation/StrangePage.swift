internal import DownloadStore

extension RangeProof {
  /// Whether a response to a request for the rest of a file is a web page that has nothing to do with
  /// it, such as the login page of a network or of a site.
  ///
  /// A new version of the file would state another validator. The page states none, although the
  /// server had stated one before, and the name of the file is not that of a page. Such a response is a
  /// failed attempt, and the bytes stay: the network may return to normal.
  ///
  /// - Parameters:
  ///   - head: The response.
  ///   - filename: The name of the file.
  /// - Returns: Whether the response is such a page.
  func isStrangePage(_ head: ResponseHead, insteadOf filename: String) -> Bool {
    guard head.status == 200, head.contentRange?.range == nil, isKnown,
      head["ETag"] == nil, head["Last-Modified"] == nil,
      let type = head.mediaType, ["text/html", "application/xhtml+xml"].contains(type),
      let dot = filename.lastIndex(of: ".")
    else { return false }
    let names = ["asp", "aspx", "cgi", "htm", "html", "jsp", "php", "shtml", "xht", "xhtml"]
    return !names.contains(filename[filename.index(after: dot)...].lowercased())
  }

  /// Whether the server has stated a validator, or a digest is required, which no page can have.
  private var isKnown: Bool {
    switch self {
    case .unchanged(let validator): validator != nil
    case .stated, .digest: true
    case .nothing: false
    }
  }

  /// The failure of a response that ``isStrangePage(_:insteadOf:)``.
  static var strangePage: DownloadFailure {
    DownloadFailure(
      .badResponse,
      "the server answered with a web page, perhaps a login page, in the place of the file"
    )
  }
}
