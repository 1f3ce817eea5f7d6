internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// What `dlstore` prints without a command: what to type first, the commands by use, and the store.
struct FirstScreen {
  /// The commands by use.
  static let groups: [(title: String, commands: [String])] = [
    ("Download", ["get", "add", "run"]), ("Look", ["list", "inspect", "stats"]),
    ("Control", ["pause", "resume", "cancel", "restart", "remove", "set", "purge"]),
    ("Files", ["verify-file", "root"]),
    ("Store", ["verify", "backup", "compact", "export", "import", "migrate", "config"]),
    ("Experts", ["reconcile", "explain", "store", "resume-data"]),
  ]

  /// The absolute path of the store's folder.
  let path: String

  /// The lines, joined.
  var text: String {
    let groups = Self.groups.map { title, commands in
      TerminalText.padded(title, to: 10) + commands.joined(separator: "  ")
    }
    return """
      dlstore \(Version.number): durable, resumable downloads

        dlstore get URL                 download a URL into the current folder
        dlstore add URL; dlstore run    store downloads, then run them
        dlstore list --watch            watch them from any terminal

      \(groups.joined(separator: "\n"))

      'dlstore help COMMAND' explains a command, 'dlstore --help' lists all of them.
      Store: \(TerminalText.safe(path)) (\(store))
      """
  }

  /// What the store contains.
  private var store: String {
    do {
      try StoreFolder.requireStore(at: path)
      let engine = EngineLock.holder(storePath: path)
      let totals = try RecordStore(at: path, access: .readOnly).totals(engineRuns: engine != nil)
      let count = totals.reduce(0) { $0 + $1.recordCount }
      let failed =
        totals.first { $0.word == DownloadState.failedPermanent.word(engineRuns: true) }?
        .recordCount ?? 0
      return "\(count) \(count == 1 ? "download" : "downloads"), \(failed) failed; "
        + (engine.map { "the engine is \($0)" } ?? "no engine is running")
    } catch let failure as CommandFailure where failure.status == .notFound {
      return "not created yet"
    } catch {
      return "it cannot be read; 'dlstore list' says why"
    }
  }
}
