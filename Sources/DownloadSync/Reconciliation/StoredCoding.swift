internal import DownloadStore
internal import Foundation

/// Decides whether a content coding that was not requested is a property of the stored file.
///
/// Many servers label a `.tar.gz` with `Content-Encoding: gzip`, from its name, and send the file as
/// it is. The coded form is then the file: its digest is the one that is published, and curl and
/// wget store it. The same label on another file means that the server encodes it although the
/// request accepts no coding, and that the file would have wrong bytes.
///
/// Pure.
struct StoredCoding {
  /// The URLs and names of the file, as the caller gave them.
  var names: [String]
  /// Whether the bytes are compared with a required digest, which decides.
  var hasDigest: Bool

  /// Returns the head without `Content-Encoding` if the coded form is the file.
  func removed(from head: ResponseHead) -> ResponseHead {
    guard let codings = head.contentCoding, isStored(codings, head) else { return head }
    var stored = head
    stored.fields.removeAll { $0.name.lowercased() == "content-encoding" }
    return stored
  }

  private func isStored(_ codings: String, _ head: ResponseHead) -> Bool {
    // A transport that decodes the body has not got the coded form.
    guard !head.isDecoded else { return false }
    if hasDigest { return true }
    let coding = codings.trimmingCharacters(in: .whitespaces).lowercased()
    guard let format = Self.formats[coding] else { return false }
    if let type = head.mediaType, format.types.contains(type) { return true }
    let names = self.names + [head.url, head.suggestedFilename].compactMap { $0 }
    return names.contains { name in
      let name = SafeFilename.suggested(byName: name)
      guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
      return format.extensions.contains(name[name.index(after: dot)...].lowercased())
    }
  }

  /// The file formats that consist of a coding, by its name (RFC 9110, 8.4.1, and registered or
  /// common ones).
  private static let formats: [String: (extensions: Set<String>, types: Set<String>)] = {
    let gzip: (extensions: Set<String>, types: Set<String>) = (
      ["gz", "tgz", "taz", "gzip", "bgz", "svgz", "emz", "wmz", "vgz", "crate"],
      [
        "application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped",
        "application/x-tgz", "application/x-tar-gz", "application/x-compressed-tar",
        "application/x-gtar-compressed", "application/vnd.gzip",
      ]
    )
    let compress: (extensions: Set<String>, types: Set<String>) = (
      ["z", "taz", "tz"], ["application/x-compress", "application/x-compressed"]
    )
    let bzip2: (extensions: Set<String>, types: Set<String>) = (
      ["bz2", "tbz", "tbz2"],
      ["application/x-bzip2", "application/x-bzip", "application/x-bzip-compressed-tar"]
    )
    return [
      "gzip": gzip, "x-gzip": gzip, "compress": compress, "x-compress": compress, "bzip2": bzip2,
      "x-bzip2": bzip2, "br": (["br"], []),
      "zstd": (["zst", "tzst", "zstd"], ["application/zstd", "application/x-zstd"]),
      "xz": (["xz", "txz"], ["application/x-xz", "application/x-xz-compressed-tar"]),
    ]
  }()
}

extension SafeFilename {
  /// The file name in a URL or a name.
  fileprivate static func suggested(byName name: String) -> String {
    name.contains("://") ? suggested(byURL: name) : name
  }
}
