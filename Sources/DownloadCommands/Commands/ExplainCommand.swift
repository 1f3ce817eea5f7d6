internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// `dlstore explain`: shows how reconciliation decides a case, and which rules apply.
struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows how the engine decides a case: rules, actions, result.",
    discussion: """
      Give the case by its values, or name a stored download; a stored download is examined as it \
      is now, assuming that no task runs for it. --all prints the decision for each of the 12,000 \
      cases, --rules prints the rules. Defaults for a case: the transport accepts resume data, a \
      slot is free, the server sent a validator, and a retry is due. For a stored download these \
      follow from the record and this tool's transport.

      EXAMPLES:
        dlstore explain 8c2b47
        dlstore explain --stored running --partial longer
        dlstore explain --all --format tsv
      """
  )

  /// The format of `--all`.
  enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
    case tsv
    case jsonl
  }

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption
  @OptionGroup var values: CaseOptions

  @Argument(
    help: ArgumentHelp("A stored download: its URL, its id, or an id prefix.", valueName: "url|id"),
    completion: StoreCompletion.downloads
  )
  var name: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Print the decision for every case.")
  var all = false

  @Flag(help: "Print the rules as a Markdown table.")
  var rules = false

  @Option(help: "The format of --all.")
  var format: Format?

  func validate() throws {
    let subjects = [name != nil, values.stored != nil, all, rules].filter { $0 }.count
    guard subjects == 1 else {
      throw ValidationError("Give exactly one of: --stored, a download, --all, --rules.")
    }
    guard values.stored != nil || !values.hasFurtherValues else {
      throw ValidationError("--task, --final, --partial and --resume-data require --stored.")
    }
    guard all || format == nil else { throw ValidationError("--format requires --all.") }
    guard !json || (!all && !rules) else {
      throw ValidationError("--json applies to one case; with --all use --format jsonl.")
    }
    guard name == nil || !values.hasConditions else {
      throw ValidationError(
        "--no-slot, --no-resume-data, --no-validator, --not-due, --pieces, --changed and "
          + "--with-file do not apply to a stored download: its record decides them."
      )
    }
  }

  func run() async throws {
    if rules { return try Output.current.write(RuleTableText.markdown) }
    if all { return try explainAll() }
    if let name {
      let store = try location.openedForReading(reading)
      let record = try store.record(matching: name)
      let found = Reconciliation(of: record, in: try store.roots(), now: Date())
      return try explain(found.reconcileCase)
    }
    try explain(values.reconcileCase, as: values.resumeData)
  }

  private func explain(_ reconcileCase: ReconcileCase, as word: ResumeDataWord? = nil) throws {
    let decision = Reconciler.decide(reconcileCase)
    let text =
      json
      ? DecisionJSON.value(of: reconcileCase, decision, as: word).prettyText
      : DecisionText.lines(of: reconcileCase, decision, as: word).joined(separator: "\n")
    try Output.current.line(text)
  }

  private func explainAll() throws {
    var text = ""
    func flush(above limit: Int) throws {
      guard text.utf8.count > limit else { return }
      try Output.current.write(text)
      text = ""
    }
    func add(_ reconcileCase: ReconcileCase, as word: ResumeDataWord? = nil) {
      let decision = Reconciler.decide(reconcileCase)
      switch format ?? .tsv {
      case .tsv: text += DecisionTSV.line(DecisionTSV.cells(of: reconcileCase, decision, as: word))
      case .jsonl:
        text += DecisionJSON.value(of: reconcileCase, decision, as: word).text + "\n"
      }
    }
    if format != .jsonl { text = DecisionTSV.line(DecisionTSV.titles) }
    for reconcileCase in ReconcileCase.all(values.conditions) {
      add(reconcileCase)
      if reconcileCase.resumeData == .stale {
        // The last value of the input: resume data that counts as corrupt.
        var unusable = reconcileCase
        unusable.resumeData = ResumeDataWord.tempMissing.status
        add(unusable, as: .tempMissing)
      }
      try flush(above: 65_536)
    }
    try flush(above: 0)
  }
}
