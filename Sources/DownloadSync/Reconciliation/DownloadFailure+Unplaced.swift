package import DownloadStore
internal import SystemInterface

extension DownloadFailure {
  /// The failure of a download whose files cannot be found: its root is unknown, or the folder that
  /// contains bytes of it is missing or cannot be searched; `nil` if neither is the case.
  ///
  /// An engine that created the folder again would download what is on a volume that is not mounted, to
  /// the disk below. Costs one `stat` and one `access`, if the record counts a file.
  package init?(unplaced record: DownloadRecord, in roots: Roots) {
    guard let layout = try? roots.layout(of: record) else {
      self.init(
        .fileSystem,
        "\(Roots.unknown(record.root)): remove the download and add it again, or import the root",
        detail: .unknownRoot
      )
      return
    }
    guard record.countsFile else { return nil }
    switch FolderState(layout.folderPath) {
    case .present: return nil
    case .missing:
      let lost = record.received > 0 ? "\(record.received) bytes of it" : "the finished file"
      self.init(
        .fileSystem,
        "the folder \(layout.folderPath) is missing, and with it \(lost): mount its volume or move it "
          + "back; a restart of the download creates it",
        detail: .folderMissing
      )
    case .failed(let code):
      self.init(
        .fileSystem,
        "the folder \(layout.folderPath) with its file cannot be examined: \(systemErrorText(code))"
      )
    }
  }
}
