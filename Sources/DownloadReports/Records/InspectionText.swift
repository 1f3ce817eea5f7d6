package import DownloadStore
internal import Foundation
internal import ProgramOutput
internal import ResumeData

/// A record as text for people, one property per line.
package enum InspectionText {
  /// The lines, without line feeds.
  package static func lines(
    of entry: DownloadEntry,
    headers: [HeaderField],
    revealsSecrets: Bool,
    isVerbose: Bool = false
  ) -> [String] {
    let record = entry.record
    let url = { (url: String) in revealsSecrets ? url : Redaction.url(url) }
    let keys = record.keys.sorted().map { revealsSecrets ? $0 : Redaction.name($0) }
    var rows: [(String, String)] = [
      ("url", url(record.url)), ("id", record.id),
      ("keys", keys.joined(separator: ", ")),
      ("state", entry.stateText + intent(of: record)),
      ("progress", progress(of: entry)), ("file status", entry.fileStatus.rawValue),
      ("filename", record.filename), ("folder", record.folder), ("root", record.root),
      ("type", record.type), ("tags", record.tags.sorted().joined(separator: ", ")),
      ("priority", String(record.priority)),
      ("held by hand", record.isHeld ? "yes" : ""),
      ("rate limit", record.bytesPerSecond.map { "\(ByteAmount.text($0))/s" } ?? ""),
      ("connections", record.connections.map { "at most \($0)" } ?? ""),
      ("not before", record.notBefore.map(Timestamp.text) ?? ""),
      ("hooks", record.pendingHooks.map(\.rawValue).sorted().joined(separator: ", ")),
    ]
    rows += record.mirrors.map { ("mirror", url($0)) }
    rows += [
      ("checksum", record.expectedDigest ?? ""), ("verified", record.verifiedDigest ?? ""),
      ("entity tag", record.entityTag ?? ""), ("modified", record.lastModified ?? ""),
    ]
    rows += headers.map { field in
      let shown = revealsSecrets ? field : Redaction.field(field)
      return ("header", "\(shown.name): \(shown.value)")
    }
    rows += [
      ("created", Timestamp.text(record.createdAt)), ("updated", Timestamp.text(record.updatedAt)),
      ("completed", record.completedAt.map(Timestamp.text) ?? ""),
      ("checked", record.checkedAt.map(Timestamp.text) ?? ""),
      (
        "versions",
        record.keepVersions.map { "the newest \($0) previous ones are kept" } ?? ""
      ),
      ("refreshed", record.refreshEvery.map { "every \(TimeSpan.units($0))" } ?? ""),
      ("next refresh", record.nextRefreshAt.map(Timestamp.text) ?? ""),
      ("retry after", entry.nextRetryAt.map(Timestamp.text) ?? ""),
    ]
    rows += files(of: entry)
    rows += entry.versionNames.map { ("kept version", $0) }
    if record.ranges != nil { rows.append(("ranges", record.committed.description)) }
    rows.append(("resume", resume(of: entry)))
    if let data = record.resumeData { rows += resumeData(data, revealsSecrets) }
    rows += history(of: entry, revealsSecrets)
    if let failure = record.refreshFailure {
      let reason = FailureSentence.reason(failure, record)
      rows.append(("refresh", "failed, and \(entry.finishedFileText): \(reason)"))
    }
    if let next = NextStep(of: entry) {
      rows.append(("next", command(for: record) ?? step(of: entry, next)))
      if isVerbose { rows.append(("rules", "\(next.rule): \(next.action)")) }
    }
    rows.append(("turn", QueuePositionText.text(of: record, revealsSecrets: revealsSecrets) ?? ""))
    let width = rows.map(\.0.count).max() ?? 0
    return rows.filter { !$0.1.isEmpty }.map { name, value in
      "\(TerminalText.padded(name, to: width))  \(TerminalText.safe(value))"
    }
  }

  /// What the user has asked for, if the state does not say it.
  private static func intent(of record: DownloadRecord) -> String {
    switch record.intent {
    case .run: ""
    case .pause: record.state == .paused ? "" : ", to be paused"
    case .cancel: record.state == .cancelled ? "" : ", to be cancelled"
    case .remove: ", to be removed"
    }
  }

  /// What the engine does next.
  private static func step(of entry: DownloadEntry, _ next: NextStep) -> String {
    entry.isRunning ? "the engine downloads the rest" : "the engine \(next.sentence)"
  }

  /// The command of the user or the time for which a download waits; `nil` if it waits for neither.
  private static func command(for record: DownloadRecord, now: Date = Date()) -> String? {
    if record.state == .paused || record.state == .waiting && record.isHeld {
      return "waits for \(SuggestedCommand.text("resume \(record.id)"))"
    }
    if record.state == .failedRetryable, let time = record.nextRetryAt, time > now {
      let advice = FailureSentence.advice(beforeRetryOf: record).map { "; \($0)" } ?? ""
      return "waits until \(Timestamp.text(time)), then tries again\(advice)"
    }
    if let failure = record.refreshFailure {
      return "waits for the next refresh: \(FailureSentence.advice(for: failure, record))"
    }
    guard record.state == .failedPermanent, let last = record.attempts.last else { return nil }
    return "waits for a command: \(FailureSentence.advice(for: last.failure, record))"
  }

  private static func progress(of entry: DownloadEntry) -> String {
    let received = entry.record.received
    guard let expected = entry.record.expected, let fraction = entry.fraction else {
      return "\(received) bytes; the size is not known yet"
    }
    return "\(received) of \(expected) bytes, \(Int(fraction * 100))%"
  }

  private static func files(of entry: DownloadEntry) -> [(String, String)] {
    guard let layout = entry.layout, let files = entry.files else {
      return [("files", "the store has no root '\(entry.record.root)'")]
    }
    var rows: [(String, String)] = []
    // What is not to be there yet is not missing.
    if entry.record.state == .completed || files.final != .missing {
      rows.append(("final file", "\(entry.finalFileStatus(files)): \(layout.finalPath)"))
    }
    if files.partial != .missing {
      let size = "\(files.partial.rawValue), \(files.partialSize) bytes"
      rows.append(("partial file", "\(size): \(layout.partialPath)"))
    } else if entry.record.received > 0, entry.record.state != .completed {
      rows.append(("partial file", "missing: \(layout.partialPath)"))
    }
    return rows
  }

  private static func resume(of entry: DownloadEntry) -> String {
    if let data = entry.record.resumeData { return "resume data of \(data.count) bytes" }
    guard let resume = entry.resume else { return "" }
    let place =
      entry.record.hasGaps
      ? "with the missing bytes: \(resume.received) bytes in "
        + "\(entry.record.committed.ranges.count) ranges are on disk"
      : "from byte \(resume.received)"
    return "\(place), if the file is still \(resume.validator ?? "the same")"
  }

  private static func resumeData(_ bytes: Data, _ revealsSecrets: Bool) -> [(String, String)] {
    do throws(ResumeDataError) {
      return ResumeDataText.rows(
        of: try URLSessionResumeData(Array(bytes)),
        revealsSecrets: revealsSecrets
      )
      .map { ("resume data", "\($0.0): \($0.1)") }
    } catch {
      return [("resume data", "unusable: \(error)")]
    }
  }

  private static func history(
    of entry: DownloadEntry,
    _ revealsSecrets: Bool
  ) -> [(String, String)] {
    entry.record.attempts.map { attempt in
      let url = revealsSecrets ? attempt.url : Redaction.url(attempt.url)
      let message = entry.message(of: attempt, revealsSecrets: revealsSecrets)
      return (
        "failed",
        "\(Timestamp.text(attempt.at)) at \(attempt.received) bytes: "
          + "\(attempt.failure.code.rawValue), \(message) (\(url))"
      )
    }
  }
}
