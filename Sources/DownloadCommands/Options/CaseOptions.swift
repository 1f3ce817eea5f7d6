internal import ArgumentParser
internal import DownloadStore
internal import DownloadSync

/// A case of reconciliation on the command line, in the words of its table.
struct CaseOptions: ParsableArguments {
  @Option(help: Self.help("What the store says", ReconcileCase.Stored.self), transform: Self.parse)
  var stored: ReconcileCase.Stored?

  @Option(
    help: Self.help("The task that works for it", ReconcileCase.LiveTask.self),
    transform: Self.parse
  )
  var task: ReconcileCase.LiveTask?

  @Option(help: Self.help("The finished file", FileFacts.Final.self), transform: Self.parse)
  var final: FileFacts.Final?

  @Option(help: Self.help("The partial file", FileFacts.Partial.self), transform: Self.parse)
  var partial: FileFacts.Partial?

  @Option(help: Self.help("Its resume data", ReconcileCase.Blob.self), transform: Self.parse)
  var blob: ReconcileCase.Blob?

  @Flag(help: "No further download may run.")
  var noSlot = false

  @Flag(help: "The transport takes no resume data.")
  var noBlobs = false

  @Flag(help: "Nothing would tell whether bytes that are continued are of the same entity.")
  var noValidator = false

  @Flag(help: "The time of the next try has not come.")
  var notDue = false

  @Flag(help: "The finished file was asked to go with its record.")
  var withFile = false

  /// The case; what was not given is none or missing.
  var reconcileCase: ReconcileCase {
    ReconcileCase(
      stored: stored ?? .none,
      task: task ?? .none,
      final: final ?? .missing,
      partial: partial ?? .missing,
      blob: blob ?? .none,
      facts: facts
    )
  }

  var facts: ReconcileCase.Facts {
    ReconcileCase.Facts(
      hasFreeSlot: !noSlot,
      takesBlobs: !noBlobs,
      removesFile: withFile,
      canContinue: !noValidator,
      isRetryDue: !notDue
    )
  }

  /// Whether a value was given that says nothing without the stored one.
  var hasFurtherValues: Bool { task != nil || final != nil || partial != nil || blob != nil }

  /// Whether facts were given that are not the usual ones.
  var hasFacts: Bool { facts != ReconcileCase.Facts() }

  private typealias Axis = CaseIterable & RawRepresentable<String>

  private static func help<Value: Axis>(_ what: String, _: Value.Type) -> ArgumentHelp {
    ArgumentHelp("\(what): \(words(Value.self)).", valueName: "value")
  }

  private static func parse<Value: Axis>(_ word: String) throws -> Value {
    guard let value = Value(rawValue: word) else {
      throw ValidationError("'\(word)' is none of: \(words(Value.self))")
    }
    return value
  }

  private static func words<Value: Axis>(_: Value.Type) -> String {
    Value.allCases.map(\.rawValue).joined(separator: " ")
  }
}
