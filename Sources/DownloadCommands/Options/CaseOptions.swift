internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync

/// A reconciliation case on the command line, with the values of the rule table.
struct CaseOptions: ParsableArguments {
  @Option(
    help: Self.help("The stored state", ReconcileCase.Stored.self),
    completion: Self.completion(ReconcileCase.Stored.self),
    transform: Self.parse
  )
  var stored: ReconcileCase.Stored?

  @Option(
    help: Self.help("The live task", ReconcileCase.LiveTask.self),
    completion: Self.completion(ReconcileCase.LiveTask.self),
    transform: Self.parse
  )
  var task: ReconcileCase.LiveTask?

  @Option(
    help: Self.help("The finished file", FileInspection.Final.self),
    completion: Self.completion(FileInspection.Final.self),
    transform: Self.parse
  )
  var final: FileInspection.Final?

  @Option(
    help: Self.help("The partial file", FileInspection.Partial.self),
    completion: Self.completion(FileInspection.Partial.self),
    transform: Self.parse
  )
  var partial: FileInspection.Partial?

  @Option(
    help: Self.help("The resume data", ResumeDataWord.self),
    completion: Self.completion(ResumeDataWord.self),
    transform: Self.parse
  )
  var resumeData: ResumeDataWord?

  @Flag(help: "No slot is free.")
  var noSlot = false

  @Flag(help: "The transport accepts no resume data.")
  var noResumeData = false

  @Flag(help: "The server sent no validator, so bytes on disk cannot be resumed.")
  var noValidator = false

  @Flag(help: "The next retry is not due yet.")
  var notDue = false

  @Flag(help: "The store has digests of the file's pieces.")
  var pieces = false

  @Flag(help: "Another program may have changed the partial file.")
  var changed = false

  @Flag(help: "The task of an earlier process does not continue the bytes on disk.")
  var misplaced = false

  @Flag(help: "The user asked to delete the finished file with the record.")
  var withFile = false

  /// The case; values that were not given are `none` or `missing`.
  var reconcileCase: ReconcileCase {
    ReconcileCase(
      stored: stored ?? .none,
      task: task ?? .none,
      final: final ?? .missing,
      partial: partial ?? .missing,
      resumeData: resumeData?.status ?? .none,
      conditions: conditions
    )
  }

  var conditions: ReconcileCase.Conditions {
    ReconcileCase.Conditions(
      hasFreeSlot: !noSlot,
      takesResumeData: !noResumeData,
      removesFile: withFile,
      canContinue: !noValidator,
      isRetryDue: !notDue,
      hasPieceDigests: pieces,
      isPartialChanged: changed,
      continuesBytes: !misplaced
    )
  }

  /// Whether a value was given that requires `--stored`.
  var hasFurtherValues: Bool { task != nil || final != nil || partial != nil || resumeData != nil }

  /// Whether a flag changes the default conditions.
  var hasConditions: Bool { conditions != ReconcileCase.Conditions() }

  private typealias Axis = CaseIterable & RawRepresentable<String>

  private static func help<Value: Axis>(_ what: String, _: Value.Type) -> ArgumentHelp {
    ArgumentHelp("\(what): \(words(Value.self)).", valueName: "value")
  }

  private static func completion<Value: Axis>(_: Value.Type) -> CompletionKind {
    .list(Value.allCases.map(\.rawValue))
  }

  private static func parse<Value: Axis>(_ word: String) throws -> Value {
    guard let value = Value(rawValue: word) else {
      let suggestion = Suggestion.text(for: word, among: Value.allCases.map(\.rawValue))
      throw ValidationError("'\(word)' is not one of: \(words(Value.self)).\(suggestion)")
    }
    return value
  }

  private static func words<Value: Axis>(_: Value.Type) -> String {
    Value.allCases.map(\.rawValue).joined(separator: " ")
  }
}

/// The values of `--resume-data`.
enum ResumeDataWord: String, CaseIterable, Sendable {
  case none
  case valid
  case corrupt
  case stale
  /// Resume data whose temporary file is missing; the rules do not distinguish it from other resume
  /// data that cannot be used.
  case tempMissing

  var status: ReconcileCase.ResumeDataStatus {
    switch self {
    case .none: .none
    case .valid: .valid
    case .corrupt, .tempMissing: .corrupt
    case .stale: .stale
    }
  }
}
