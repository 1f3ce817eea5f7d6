internal import DownloadStore

extension ResponseHead {
  /// Whether the response is a web page that has nothing to do with a file whose validator is known,
  /// such as the login page of a network or of a site.
  ///
  /// The page states no validator, it has another size, and the name of the file is not that of a page;
  /// a page without an extension gets one of ``FileNaming/fromResponse``. The caller knows that the file
  /// is no such page: a server had stated a validator of it, or had sent it with another type. The
  /// response is a failed attempt, and the bytes stay: the network may return to normal.
  ///
  /// - Parameters:
  ///   - filename: The name of the file.
  ///   - size: The size of the file in bytes; `nil` if it is unknown.
  /// - Returns: Whether the response is such a page.
  func isStrangePage(insteadOf filename: String, ofSize size: Int64? = nil) -> Bool {
    guard status == 200, contentRange?.range == nil,
      self["ETag"] == nil, self["Last-Modified"] == nil,
      size == nil || contentLength != size,
      isPage
    else { return false }
    guard let dot = filename.lastIndex(of: ".") else { return true }
    let names = ["asp", "aspx", "cgi", "htm", "html", "jsp", "php", "shtml", "xht", "xhtml"]
    return !names.contains(filename[filename.index(after: dot)...].lowercased())
  }

  /// Whether the type of the body is that of a web page.
  private var isPage: Bool {
    mediaType.map { ["text/html", "application/xhtml+xml"].contains($0) } ?? false
  }

  /// Whether the response states a validator that a record stores.
  var statesValidator: Bool { storable("ETag") != nil || storable("Last-Modified") != nil }

  /// The origin that a record stores with the validators of the file that the response has.
  ///
  /// If the response states none, the origin says that a server has sent the file, and that it is no
  /// web page. A page without a validator is then not a version of it. It is `nil` for a file that is
  /// such a page itself.
  ///
  /// - Parameter url: The origin of the record's URL, which need not be stored with a validator.
  /// - Returns: The origin.
  func validatorOrigin(forURLOf url: String) -> String? {
    if statesValidator { return origin(unlike: url) }
    return isPage ? nil : origin ?? url
  }

  /// The failure of a response that ``isStrangePage(insteadOf:ofSize:)``.
  static var strangePage: DownloadFailure {
    DownloadFailure(
      .badResponse,
      "the server answered with a web page, perhaps a login page, in the place of the file"
    )
  }
}
