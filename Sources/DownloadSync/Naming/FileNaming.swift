internal import DownloadStore

/// Where the name of a finished file comes from that nobody has named.
///
/// A name other than the one that the URL suggests was given by somebody, and stays.
public enum FileNaming: String, Sendable, Hashable, CaseIterable {
  /// The URL suggests it, so that it is known from the start.
  case fromURL
  /// The response names it in `Content-Disposition` (RFC 6266).
  ///
  /// Where it does not, the URL does, and where that has no extension, one for the `Content-Type` is
  /// put behind it. The file gets this name when it is complete, made harmless and numbered as any
  /// other.
  case fromResponse

  /// The name that a complete file gets in place of its record's; `nil` when it keeps that.
  func name(for record: DownloadRecord, _ head: ResponseHead?) -> String? {
    guard self == .fromResponse, let head, record.replacedStamp == nil else { return nil }
    let suggested = SafeFilename.suggested(byURL: record.url)
    guard Self.isNumbered(record.filename, suggested) else { return nil }
    let name: String
    if let given = head.suggestedFilename {
      name = SafeFilename.sanitized(given)
    } else if !suggested.contains("."), let type = head.mediaType,
      let ext = MediaType.filenameExtension(of: type)
    {
      name = SafeFilename.sanitized("\(suggested).\(ext)")
    } else {
      return nil
    }
    return Self.isNumbered(record.filename, name) ? nil : name
  }

  /// Whether a name is another one but for a number behind it.
  private static func isNumbered(_ name: String, _ other: String) -> Bool {
    name == other || SafeFilename.numbered(name, 2) == SafeFilename.numbered(other, 2)
  }
}

extension DownloadRecord {
  /// Gives the record another name, and the type that goes with it unless it has one of its own.
  mutating func rename(to name: String) {
    if type == DownloadStore.type(ofFileNamed: filename) {
      type = DownloadStore.type(ofFileNamed: name)
    }
    filename = name
  }
}
