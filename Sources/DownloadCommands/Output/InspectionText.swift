internal import DownloadStore
internal import Foundation
internal import ResumeData

/// A record as text for people, one property per line.
enum InspectionText {
  /// The lines, without line feeds.
  static func lines(
    of entry: DownloadEntry,
    headers: [HeaderField],
    revealsSecrets: Bool
  ) -> [String] {
    let record = entry.record
    let url = { (url: String) in revealsSecrets ? url : Redaction.url(url) }
    var facts: [(String, String)] = [
      ("url", url(record.url)), ("id", record.id),
      ("state", "\(record.state.word), to \(record.intent.rawValue)"),
      ("progress", progress(of: entry)), ("file status", entry.fileStatus.rawValue),
      ("filename", record.filename), ("folder", record.folder), ("root", record.root),
      ("type", record.type), ("tags", record.tags.sorted().joined(separator: ", ")),
      ("priority", String(record.priority)),
      ("held by hand", record.isHeldByHand ? "yes" : ""),
    ]
    facts += record.mirrors.map { ("mirror", url($0)) }
    facts += [
      ("checksum", record.expectedDigest ?? ""), ("verified", record.verifiedDigest ?? ""),
      ("entity tag", record.entityTag ?? ""), ("modified", record.lastModified ?? ""),
    ]
    facts += headers.map { field in
      let shown = revealsSecrets ? field : Redaction.field(field)
      return ("header", "\(shown.name): \(shown.value)")
    }
    facts += [
      ("created", Timestamp.text(record.createdAt)), ("updated", Timestamp.text(record.updatedAt)),
      ("completed", record.completedAt.map(Timestamp.text) ?? ""),
      ("retry after", record.nextRetryAt.map(Timestamp.text) ?? ""),
    ]
    facts += files(of: entry)
    facts.append(("resume", resume(of: entry)))
    if let blob = record.resumeBlob { facts += resumeData(blob, revealsSecrets) }
    facts += history(of: entry, revealsSecrets)
    if let next = NextStep(of: entry) {
      facts.append(("next", next.rule + (next.action == "nothing" ? "" : ": \(next.action)")))
    }
    facts.append(("turn", TurnText.text(of: record, revealsSecrets: revealsSecrets) ?? ""))
    let width = facts.map(\.0.count).max() ?? 0
    return facts.filter { !$0.1.isEmpty }.map { name, value in
      "\(TerminalText.padded(name, to: width))  \(TerminalText.safe(value))"
    }
  }

  private static func progress(of entry: DownloadEntry) -> String {
    let received = entry.record.received
    guard let expected = entry.record.expected, let fraction = entry.fraction else {
      return "\(received) bytes; the size is not known yet"
    }
    return "\(received) of \(expected) bytes, \(Int(fraction * 100))%"
  }

  private static func files(of entry: DownloadEntry) -> [(String, String)] {
    guard let layout = entry.layout, let facts = entry.facts else {
      return [("files", "the store has no root '\(entry.record.root)'")]
    }
    let partial = facts.partial == .missing ? "" : ", \(facts.partialSize) bytes"
    return [
      ("final file", "\(facts.final.rawValue): \(layout.finalPath)"),
      ("partial file", "\(facts.partial.rawValue)\(partial): \(layout.partialPath)"),
    ]
  }

  private static func resume(of entry: DownloadEntry) -> String {
    if let blob = entry.record.resumeBlob { return "resume data of \(blob.count) bytes" }
    guard let resume = entry.resume else { return "" }
    return "from byte \(resume.received), if the file is still \(resume.validator ?? "the same")"
  }

  private static func resumeData(_ blob: Data, _ revealsSecrets: Bool) -> [(String, String)] {
    do throws(ResumeDataError) {
      return ResumeDataText.facts(of: try ResumeData(Array(blob)), revealsSecrets: revealsSecrets)
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
