internal import DownloadStore

/// The source of a file's name if the caller gave none.
///
/// A name that the caller gave is never changed. A file that replaces a finished one keeps the name
/// of that file.
///
/// ```swift
/// var options = EngineOptions()
/// options.naming = .fromURL
/// ```
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

extension ResponseHead {
  /// The media type in `Content-Type`, in lower case and without parameters (RFC 9110, 8.3.1);
  /// `nil` if the field is missing.
  var mediaType: String? {
    let type = self["Content-Type"]?.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type?.isEmpty == false ? type : nil
  }
}

/// The usual filename extensions of media types.
enum MediaType {
  /// Returns the usual extension of a media type; `nil` if the type has none.
  ///
  /// `text/plain` has none: servers also send it for files of unknown type.
  static func filenameExtension(of type: String) -> String? { extensions[type] }

  /// Types registered with IANA, and unregistered ones that servers send for common downloads.
  private static let extensions = [
    "application/epub+zip": "epub", "application/gzip": "gz", "application/java-archive": "jar",
    "application/json": "json", "application/msword": "doc", "application/ogg": "ogx",
    "application/pdf": "pdf", "application/rtf": "rtf", "application/vnd.apple.mpegurl": "m3u8",
    "application/vnd.debian.binary-package": "deb", "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt", "application/vnd.rar": "rar",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/x-7z-compressed": "7z", "application/x-bzip2": "bz2", "application/x-gzip": "gz",
    "application/x-tar": "tar", "application/x-xz": "xz", "application/xml": "xml",
    "application/zip": "zip", "application/zstd": "zst",
    "audio/aac": "aac", "audio/flac": "flac", "audio/mp4": "m4a", "audio/mpeg": "mp3",
    "audio/ogg": "oga", "audio/wav": "wav", "audio/webm": "weba",
    "font/otf": "otf", "font/ttf": "ttf", "font/woff": "woff", "font/woff2": "woff2",
    "image/avif": "avif", "image/bmp": "bmp", "image/gif": "gif", "image/heic": "heic",
    "image/jpeg": "jpg", "image/png": "png", "image/svg+xml": "svg", "image/tiff": "tiff",
    "image/webp": "webp",
    "text/calendar": "ics", "text/css": "css", "text/csv": "csv", "text/html": "html",
    "text/javascript": "js", "text/markdown": "md", "text/xml": "xml",
    "video/3gpp": "3gp", "video/mp4": "mp4", "video/mpeg": "mpeg", "video/ogg": "ogv",
    "video/quicktime": "mov", "video/webm": "webm", "video/x-matroska": "mkv",
  ]
}
