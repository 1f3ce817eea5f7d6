package import DownloadStore
internal import DownloadSync
package import Foundation
internal import ProgramOutput

/// A record and the state of its files on disk; the input of every output format.
///
/// Files are examined when a property needs them.
package struct DownloadEntry: Sendable {
  /// The point from which a later transfer can resume.
  package struct Resume: Sendable, Equatable {
    /// `range` for a partial file, `resumeData` for Apple's resume data.
    package var kind: String
    /// The number of bytes that need not be transferred again.
    package var received: Int64
    /// The validator sent in `If-Range`.
    package var validator: String?
  }

  package let record: DownloadRecord
  private let roots: Roots
  private let engineRuns: Bool

  /// Creates an entry; `engineRuns` says whether an engine runs on the store.
  package init(_ record: DownloadRecord, _ roots: Roots, engineRuns: Bool = true) {
    self.record = record
    self.roots = roots
    self.engineRuns = engineRuns
  }

  /// Whether an engine transfers the download now.
  package var isRunning: Bool { engineRuns && record.state == .running }

  /// The word for the state, as filters accept it.
  package var state: String { record.state.word(engineRuns: engineRuns) }

  /// The state for people.
  package var stateText: String { record.state.text(engineRuns: engineRuns) }

  /// The time of the next attempt; `nil` unless the download is retried.
  package var nextRetryAt: Date? { record.state == .failedRetryable ? record.nextRetryAt : nil }

  /// The paths of the files; `nil` if the store has no root of the record's name.
  package var layout: FileLayout? { try? roots.layout(of: record) }

  /// The files on disk, examined now; `nil` if ``layout`` is.
  package var files: FileInspection? { layout.map { FileInspection(of: record, in: $0) } }

  package var displayURL: String { Redaction.url(record.url) }

  /// The state of the file on disk, examined now.
  package var fileStatus: FileStatus {
    // Without a root, the files count as missing.
    guard let layout else {
      return FileStatus(of: record, files: FileInspection(final: .missing, partial: .missing))
    }
    return FileStatus(of: record, in: layout)
  }

  /// Says, after a refresh without a newer file, whether the finished file stays, was changed, is
  /// missing, or cannot be examined.
  package var finishedFileText: String {
    switch files {
    case let files? where files.final == .ours || files.isReplaced: "the finished file stays"
    case let files? where files.isFinalUnknown: "the finished file cannot be examined"
    case let files? where files.final.isForeign: "the finished file was changed"
    default: "the finished file is missing"
    }
  }

  /// Returns the word for what the final path contains: that of ``FileInspection/Final``, or `previous`.
  ///
  /// `previous` is the previous finished file of a restarted download. A path that cannot be examined is
  /// `missing`, as in ``fileStatus``.
  package func finalFileStatus(_ files: FileInspection) -> String {
    guard !files.isFinalUnknown else { return FileStatus.missing.rawValue }
    return record.hasPreviousFile(files) ? FileStatus.previous.rawValue : files.final.rawValue
  }

  /// The path of the finished file; `nil` before completion, because the name may still change.
  package var localPath: String? {
    guard record.state == .completed || record.fileIdentity != nil, let layout else { return nil }
    guard record.state == .completed || FileInspection.final(of: record, in: layout) == .ours else {
      return nil
    }
    return layout.finalPath
  }

  /// The names of the previous versions that are beside the finished file, oldest first.
  package var versionNames: [String] {
    guard let layout else { return [] }
    return record.keptVersions.filter { $0.found(in: layout.folderPath) != nil }.map(\.filename)
  }

  /// The fraction received, clamped to 0...1; `nil` while the size is unknown.
  package var fraction: Double? {
    Self.fraction(received: record.received, expected: record.expected)
  }

  package static func fraction(received: Int64, expected: Int64?) -> Double? {
    guard let expected else { return nil }
    guard expected > 0 else { return 1 }
    return max(0, min(1, Double(received) / Double(expected)))
  }

  package var resume: Resume? {
    guard record.state != .completed, record.state != .cancelled else { return nil }
    let validator = Validator(of: record)?.ifRange
    if record.resumeData != nil {
      return Resume(kind: "resumeData", received: record.received, validator: validator)
    }
    guard record.received > 0, validator != nil || record.expectedDigest != nil else { return nil }
    return Resume(kind: "range", received: record.received, validator: validator)
  }

  /// The last failed attempt of an incomplete download; `nil` if there is none.
  package var lastAttempt: Attempt? {
    record.state == .completed ? nil : record.attempts.last
  }

  /// Returns the message of an attempt, with the download's own URLs redacted.
  package func message(of attempt: Attempt, revealsSecrets: Bool = false) -> String {
    guard !revealsSecrets else { return attempt.failure.message }
    return ([record.url, attempt.url] + record.mirrors).reduce(attempt.failure.message) {
      $0.replacing($1, with: Redaction.url($1))
    }
  }
}

/// The outcome of the next reconciliation of a record that has no live task.
package struct NextStep: Sendable, Equatable {
  /// The rules that apply, joined by `+` in their order.
  package var rule: String
  /// The actions, joined by `; ` in their order, or `nothing`.
  package var action: String
  /// What the engine does, for people.
  package var sentence: String

  /// `nil` if the store has no root of the record's name.
  package init?(of entry: DownloadEntry, now: Date = Date()) {
    guard let files = entry.files else { return nil }
    let decision = Reconciler.decide(ReconcileCase(record: entry.record, files: files, now: now))
    rule = decision.ruleNames
    sentence = DecisionSentence.text(decision, received: entry.record.received)
    action = decision.steps.isEmpty ? "nothing" : decision.steps.joined(separator: "; ")
  }
}

/// Says when a download will start.
package enum QueuePositionText {
  /// The sentence; `nil` if ``NextStep`` already says it.
  package static func text(
    of record: DownloadRecord,
    revealsSecrets: Bool,
    now: Date = Date()
  ) -> String? {
    func shown(_ url: String) -> String { revealsSecrets ? url : Redaction.url(url) }
    switch record.state {
    case .waiting where record.isHeld:
      return "held: 'resume --now' of another download stopped it; "
        + "\(SuggestedCommand.text("resume \(record.id)")) continues it"
    case .waiting where record.startsImmediately:
      return "immediately, before all others; stops a running download if no slot is free"
    case .waiting where (record.notBefore ?? now) > now:
      return "not before \(record.notBefore.map(Timestamp.text) ?? "")"
    case .waiting where record.attempts.last?.failure.code == .diskFull:
      return "when the disk has free space"
    case .failedRetryable:
      let time = record.nextRetryAt.map { "not before \(Timestamp.text($0))" } ?? "immediately"
      return "\(time), from \(shown(record.source))"
    case .failedPermanent where record.attempts.last?.failure.code == .needsURL:
      return "when \(SuggestedCommand.text("set \(record.id) --url URL")) gives it a new link; "
        + "resumes after \(record.received) bytes"
    case .waiting where record.source != record.url:
      return "from \(shown(record.source))"
    case .waiting, .running, .paused, .failedPermanent, .finalizing, .completed, .cancelled,
      .removed:
      return nil
    }
  }
}

extension DownloadRecord {
  /// Whether the bytes on disk are others than the first ones of the file.
  package var hasGaps: Bool {
    let ranges = committed.ranges
    return ranges.count > 1 || (ranges.first?.lowerBound ?? 0) > 0
  }
}
