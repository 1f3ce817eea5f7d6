internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync

/// What `add` says about its downloads after it has listed them: where the files of the new ones will
/// be, and the states of the known ones.
struct AdditionSummary: Sendable {
  /// New downloads in one state.
  private struct Group: Sendable {
    var count = 0
    var root = ""
    /// The folder of all files; `nil` if there are several.
    var folder: String?
    /// The id of the last download.
    var id = ""

    mutating func note(_ record: DownloadRecord, _ roots: Roots) {
      if count == 0 {
        root = roots.path(of: record.root) ?? record.root
        folder = record.folder
      } else if folder != record.folder {
        folder = nil
      }
      id = record.id
      count += 1
    }

    var files: String { count == 1 ? "the file" : "\(count) files" }
    var place: String { place("into") }

    func place(_ preposition: String) -> String {
      folder.map { "\(preposition) \(AdditionSummary.path(root, $0))" } ?? "below \(root)"
    }
  }

  /// The number of known downloads that are described one by one.
  private static let describedCount = 10

  /// The process whose engine runs all downloads; `nil` if there is none.
  private let engine: String?
  /// Whether an engine runs on the store, on which the shown states depend.
  private let engineRuns: Bool
  private var waiting = Group()
  private var paused = Group()
  private var adopted = Group()
  /// Why adopted files are not refreshed, although that was asked for; `nil` if it was not.
  private var refreshObstacle: String?
  private var known: [String] = []
  private var knownCounts: [String: Int] = [:]

  /// Creates the summary of no download.
  init(storePath: String) {
    engine = EngineLock.holderForAll(storePath: storePath)
    engineRuns = EngineLock.holder(storePath: storePath) != nil
  }

  /// Notes downloads; the new ones are below one root.
  mutating func note(_ additions: [RecordStore.Added], _ roots: Roots) {
    for added in additions {
      if let change = added.change {
        note(added, change, roots)
        continue
      }
      switch added.record.state {
      case .paused: paused.note(added.record, roots)
      case .completed:
        adopted.note(added.record, roots)
        if added.record.refreshEvery != nil { refreshObstacle = added.record.refreshObstacle }
      default: waiting.note(added.record, roots)
      }
    }
  }

  private mutating func note(
    _ added: RecordStore.Added,
    _ change: RecordStore.Added.Change,
    _ roots: Roots
  ) {
    knownCounts[word(added.record.state), default: 0] += 1
    guard known.count < Self.describedCount else { return }
    let names = change.properties.map(\.rawValue).joined(separator: ", ")
    let applied = names.isEmpty ? nil : "applied: \(names)"
    // A note says what is known about the state.
    let parts = [added.note == nil ? sentence(added.record, change, roots) : nil, applied]
      .compactMap(\.self)
    guard !parts.isEmpty else { return }
    known.append("\(added.record.id): \(parts.joined(separator: "; "))")
  }

  /// The sentences, without the notes about single downloads.
  var messages: [String] {
    var messages: [String] = []
    if waiting.count > 0 {
      messages.append("\(actor) downloads \(waiting.files) \(waiting.place)")
    }
    if paused.count == 1 {
      messages.append(
        "the download is paused: \(SuggestedCommand.text("resume \(paused.id)")) starts it; its "
          + "file goes \(paused.place)"
      )
    } else if paused.count > 1 {
      messages.append(
        "\(paused.count) downloads are paused: \(SuggestedCommand.text("resume --all")) starts "
          + "them; their files go \(paused.place)"
      )
    }
    if adopted.count > 0 {
      let verb = adopted.count == 1 ? "is" : "are"
      messages.append(
        "\(adopted.files) \(adopted.place("in")) \(verb) kept and not downloaded"
          + (refreshObstacle.map { ", and not refreshed: \($0)" } ?? "")
      )
    }
    let count = knownCounts.values.reduce(0, +)
    guard count > Self.describedCount else { return messages + known }
    let states = knownCounts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    messages.append(
      "\(count) downloads were known (\(states.joined(separator: ", "))); they keep their files and "
        + "folders, which \(SuggestedCommand.text("list")) shows"
    )
    return messages
  }

  /// What carries out downloads.
  private var actor: String {
    engine.map { "the running engine (\($0))" } ?? SuggestedCommand.text("run")
  }

  private func word(_ state: DownloadState) -> String { state.word(engineRuns: engineRuns) }

  /// Says in which state a known download is, who continues it, and where its file is or will be.
  private func sentence(
    _ record: DownloadRecord,
    _ change: RecordStore.Added.Change,
    _ roots: Roots
  ) -> String {
    let (now, before) = (word(record.state), word(change.previousState))
    let past = now == before ? "" : " (it was \(before))"
    let state = "'\(TerminalText.safe(record.filename))' is known and \(now)\(past)"
    let folder = Self.path(roots.path(of: record.root) ?? record.root, record.folder)
    switch record.state {
    case .completed:
      return "\(state): \(DownloadEntry(record, roots).localPath ?? folder)"
    case .paused:
      let resume = SuggestedCommand.text("resume \(record.id)")
      return "\(state): \(resume) starts it; its file goes into \(folder)"
    case .waiting, .running, .failedRetryable, .finalizing:
      return "\(state): \(actor) downloads it into \(folder)"
    case .failedPermanent, .cancelled, .removed:
      return state
    }
  }

  private static func path(_ root: String, _ folder: String) -> String {
    folder.isEmpty ? root : "\(root)/\(folder)"
  }
}
