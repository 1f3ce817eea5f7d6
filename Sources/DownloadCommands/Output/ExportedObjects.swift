internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// Selects the objects of a download store that an export with filters contains: the records that
/// match, their details and their roots.
///
/// Records must precede the other objects, as they do in an export.
struct ExportedObjects {
  private let labels: LabelFilter
  /// The stored words of the selected states; `nil` for all but `removed`.
  private let states: Set<String>?
  private let glob: GlobPattern?
  private let host: HostPattern?
  /// The ids of exported records with header fields, as numbers.
  private var idsWithHeaders: Set<UInt64> = []
  /// Those of exported records with digests of pieces.
  private var idsWithDigests: Set<UInt64> = []
  private var roots: Set<String> = []

  init(_ filter: RecordFilter, engineRuns: Bool) {
    labels = filter.labels
    states = filter.filter.storedStates(engineRuns: engineRuns).map { Set($0.map(\.rawValue)) }
    glob = filter.url.pattern.map(GlobPattern.init)
    host = filter.url.host.map(HostPattern.init)
  }

  /// Whether the export contains the object.
  mutating func includes(_ object: StoredObject) -> Bool {
    switch object.model {
    case DownloadRecord.schema.name:
      guard matches(object) else { return false }
      if let id = UInt64(object.text("id"), radix: 16) {
        if object["hasHeaders"] == .bool(true) { idsWithHeaders.insert(id) }
        if object["hasPieceDigests"] == .bool(true) { idsWithDigests.insert(id) }
      }
      roots.insert(object.text("root"))
      return true
    case RequestHeaders.schema.name:
      return UInt64(object.text("recordID"), radix: 16).map(idsWithHeaders.contains) ?? false
    case PieceDigests.schema.name:
      return UInt64(object.text("recordID"), radix: 16).map(idsWithDigests.contains) ?? false
    case Root.schema.name: return roots.contains(object.text("name"))
    default: return false
    }
  }

  private func matches(_ record: StoredObject) -> Bool {
    let state = record.text("state")
    guard states?.contains(state) ?? (state != DownloadState.removed.rawValue) else { return false }
    let type = StoredText(record.text("type"))
    guard labels.type.map({ StoredText($0) == type }) ?? true else { return false }
    if let glob, !glob.matches(record.text("url")), !glob.matches(record.text("filename")) {
      return false
    }
    if let host, !host.matches(url: record.text("url")) { return false }
    guard !labels.tags.isEmpty else { return true }
    guard case .set(let tags) = record["tags"] else { return false }
    let own = tags.compactMap { tag -> StoredText? in
      if case .string(let text) = tag { StoredText(text) } else { nil }
    }
    return labels.tags.allSatisfy { own.contains(StoredText($0)) }
  }
}

extension StoredObject {
  /// The value of a text field; empty if the object does not have it.
  fileprivate func text(_ name: String) -> String {
    if case .string(let text) = self[name] { text } else { "" }
  }
}
