internal import ArgumentParser
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// `dlstore explain`: what reconciliation does in a case, and by which rules.
struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Says which rules fire in a case, what is done, and what comes of it.",
    discussion: """
      The case is given by its values, or it is that of a stored download as it is now if no task \
      runs for it. --all prints the decision for each of the 12,000 cases, --rules the rules \
      themselves. Unless told otherwise it speaks of a transport that takes resume data, with a \
      free slot, of bytes that may be continued, and of a retry that is due; of a stored download \
      it speaks as it is, and of this tool's transport.
      """
  )

  /// How the decisions for all cases are written.
  enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
    case tsv
    case jsonl
  }

  @OptionGroup var location: StoreLocation
  @OptionGroup var values: CaseOptions

  @Argument(
    help: ArgumentHelp("A stored download: its URL, its id, or its beginning.", valueName: "url|id")
  )
  var name: String?

  @Flag(help: "One JSON object.")
  var json = false

  @Flag(help: "The decision for every case.")
  var all = false

  @Flag(help: "The table of rules, as Markdown.")
  var rules = false

  @Option(help: "How --all is written: tsv or jsonl.")
  var format: Format?

  func validate() throws {
    let subjects = [name != nil, values.stored != nil, all, rules].filter { $0 }.count
    guard subjects == 1 else {
      throw ValidationError("Give a case with --stored, a download, --all, or --rules.")
    }
    guard values.stored != nil || !values.hasFurtherValues else {
      throw ValidationError("--task, --final, --partial and --blob need --stored.")
    }
    guard all || format == nil else { throw ValidationError("--format needs --all.") }
    guard !json || (!all && !rules) else {
      throw ValidationError("--json is of one case; with --all give --format jsonl.")
    }
    guard name == nil || !values.hasFacts else {
      throw ValidationError("What a stored download depends on is as it is.")
    }
  }

  func run() async throws {
    if rules { return try Output.current.write(RuleTableText.markdown(.standard)) }
    if all { return try explainAll() }
    if let name {
      let store = try DownloadStore(at: location.resolved(), access: .readOnly)
      let record = try store.record(named: name)
      let found = try Reconciliation(of: record, in: try store.roots(), now: Date())
      return try explain(found.reconcileCase)
    }
    try explain(values.reconcileCase)
  }

  private func explain(_ reconcileCase: ReconcileCase) throws {
    let decision = Reconciler.decide(reconcileCase)
    let text =
      json
      ? DecisionJSON.value(of: reconcileCase, decision).prettyText
      : DecisionText.lines(of: reconcileCase, decision).joined(separator: "\n")
    try Output.current.line(text)
  }

  private func explainAll() throws {
    var text = ""
    func flush(above limit: Int) throws {
      guard text.utf8.count > limit else { return }
      try Output.current.write(text)
      text = ""
    }
    if format != .jsonl { text = DecisionTSV.line(DecisionTSV.titles) }
    for reconcileCase in ReconcileCase.all(values.facts) {
      let decision = Reconciler.decide(reconcileCase)
      switch format ?? .tsv {
      case .tsv: text += DecisionTSV.line(DecisionTSV.cells(of: reconcileCase, decision))
      case .jsonl: text += DecisionJSON.value(of: reconcileCase, decision).text + "\n"
      }
      try flush(above: 65_536)
    }
    try flush(above: 0)
  }
}
