internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// `dlstore run`: runs the engine in the foreground.
struct RunCommand: EngineCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs the engine in the foreground until it is stopped.",
    discussion: """
      Ctrl-C or SIGTERM stops it with exit code 0: the bytes on disk are kept, and the next run \
      resumes the downloads. A second signal exits immediately with 130 or 143. A missing store is \
      created. With --until-idle it is an error, and the exit code is 1 if a download failed \
      permanently or no download has the tags of --tag, and 130 or 143 after a signal.

      EXAMPLES:
        dlstore run --max-concurrent 3 --limit-rate 2M
        dlstore run --until-idle --output-folder /srv/mirror
        dlstore run --until-idle --tag nightly
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var limits: EngineLimits
  @OptionGroup var display: DisplayOptions
  @OptionGroup var hooks: HookOptions
  @OptionGroup var place: RunFolder

  @Flag(help: "Exit when no download is left to run.")
  var untilIdle = false

  @Option(
    name: .customLong("tag"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Run only the downloads that have this tag at the start; needs --until-idle; of several, those "
        + "with all of them.",
      valueName: "tag[,tag]"
    ),
    transform: TagList.parse
  )
  var tagLists: [[String]] = []

  /// The tags of the downloads to run; empty for all downloads.
  var tags: [String] { tagLists.flatMap(\.self) }

  func validate() throws {
    guard tags.isEmpty || untilIdle else {
      throw ValidationError(
        "--tag requires --until-idle: it runs the downloads that have the tag at the start."
      )
    }
  }

  func run() async throws {
    try limits.client.checkFiles()
    // A usage error leaves nothing behind.
    _ = try hooks.actions(limits.client)
    let folder = try place.outputFolder.map { try Folder.made(at: $0) }
    // A mistyped path would create an empty store, and leave nothing to do.
    let path = untilIdle ? try location.existing() : location.resolved()
    let store = try RecordStore(at: path, checksPages: Worker.followsCrash)
    if let folder { try StandardFolder.set(folder, of: store, isQuiet: display.quiet) }
    let scope = try scope(in: store)
    let setup = try EngineSetup(
      store: store,
      limits: limits,
      display: display,
      hooks: hooks,
      scope: scope
    )
    let session = try EngineSession(store: store, setup: setup)
    let goal = scope.map { RunGoal.finished(.matching($0)) }
    let (end, summary) = try await session.run(until: goal ?? (untilIdle ? .idle : .stopped))
    // The summary also counts failures that a hook has mended.
    let failures = (await setup.display.failed ?? summary.failed) + end.failedHooks
    guard untilIdle else { return }
    // Only a run without a goal has done what it was asked to when it is stopped.
    if let signal = end.signal { throw CommandFailure(signal.status) }
    if !display.quiet, let left = try left(in: store) { Output.current.say(left) }
    if failures > 0 { throw CommandFailure(.failed) }
  }

  /// The condition of the downloads to run.
  private var condition: Filter<DownloadRecord> {
    tags.reduce(.all) { DownloadRecord.columns.tags.contains($1) && $0 }
  }

  /// Returns a sentence about the downloads that wait for a command; `nil` if there are none.
  private func left(in store: RecordStore) throws -> String? {
    let columns = DownloadRecord.columns
    let (held, paused) = try store.objects.read { tx in
      (
        try tx.count(
          Query(condition && columns.state == .waiting && columns.isHeld == true)
        ),
        try tx.count(Query(condition && columns.state == .paused))
      )
    }
    let counts = [(held, "held"), (paused, "paused")].filter { $0.0 > 0 }
    guard let first = counts.first else { return nil }
    let subject = first.0 == 1 ? "download is" : "downloads are"
    let more = counts.dropFirst().map { " and \($0.0) \($0.0 == 1 ? "is" : "are") \($0.1)" }
    let selection =
      tags.isEmpty ? "--all" : tags.map { "--tag \(ShellWord.quoted($0))" }.joined(separator: " ")
    let left = "\(first.0) \(subject) \(first.1)\(more.joined())"
    return "\(left): \(SuggestedCommand.text("resume \(selection)")) continues "
      + (held + paused == 1 ? "it" : "them")
  }

  /// The URLs of the downloads to run; `nil` for all.
  ///
  /// - Throws: ``CommandFailure`` with `failed` if no download has the tags; `StoreError`.
  private func scope(in store: RecordStore) throws -> [String]? {
    guard !tags.isEmpty else { return nil }
    let condition = condition
    let urls = try store.objects.read { tx in
      try tx.fetch(Query(condition)) { view in try view.url }
    }
    guard !urls.isEmpty else {
      let words = tags.map { "--tag '\($0)'" }.joined(separator: " ")
      throw CommandFailure(.failed, "no download with \(words) exists")
    }
    return urls.sorted()
  }

  /// Failures in workers that crashed later count too.
  var failsWhenSomethingFailed: Bool { untilIdle }
}

/// The folder of `run`, which is also a setting.
///
/// `get` has an option of the same name, for its own downloads, which the setting does not change.
struct RunFolder: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder for files from now on; stored. Downloads that have bytes or a file stay in theirs.",
      valueName: "folder"
    ),
    completion: .directory
  )
  var outputFolder: String?

  func validate() throws {
    guard outputFolder?.isEmpty != true else {
      throw ValidationError("--output-folder requires the path of a folder.")
    }
  }
}
