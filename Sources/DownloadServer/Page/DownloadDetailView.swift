internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import ProgramOutput
internal import ResumeData

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The page of one download.
struct DownloadDetailView {
  let entry: DownloadEntry
  /// The header fields of its requests; secrets are redacted here.
  let headers: [HeaderField]
  /// The speed in bytes per second; `nil` if it is not known.
  let speed: Double?
  let allowsChanges: Bool

  private var record: DownloadRecord { entry.record }
  private var address: String { "/downloads/\(record.id)" }

  /// The page, whose history is searched after everything else was sent.
  var parts: [PagePart] {
    [
      .ready(html),
      .read { [record] store in
        RecordHistory(commits: try RecordCommit.last(of: record, in: store.objects)).html
      },
    ]
  }

  /// The page without the history.
  var html: HTML {
    """
    <div class="lead"><div><p class="small"><a href="/">Downloads</a></p>\
    <h1><bdi>\(record.filename)</bdi></h1></div>\(actions)</div>
    <div class="stack" id="detail" data-id="\(record.id)" \
    data-state="\(entry.state) \(record.intent.rawValue)">\(status)\(next)</div>
    <div class="columns">\(chart)\(files)</div>
    \(attempts)<div class="columns">\(facts)\(request)</div>\(resumeData)
    """
  }

  // MARK: Commands

  private var actions: HTML? {
    guard allowsChanges else { return nil }
    let buttons = RowCommand.commands(for: record).map { command -> HTML in
      """
      <button name="one" value="\(command.rawValue) \(record.id)" data-key="\(command.rawValue)">\
      \(command.icon.html) \(command.title(for: record))</button>
      """
    }
    return """
      <form class="actions" id="actions" method="post" action="/commands">\
      <input type="hidden" name="back" value="\(address)">\(buttons)\
      <a class="button" href="/change?id=\(record.id)">\(Icon.edit.html) Change…</a>\
      <a class="button danger" href="/remove?id=\(record.id)">\(Icon.trash.html) Remove…</a></form>
      """
  }

  // MARK: State

  private var status: HTML {
    let expected = record.expected.map(ByteAmount.text) ?? "unknown"
    let percent = entry.fraction.map { "\(PageText.percent($0))%" } ?? "–"
    let estimate = ProgressEstimate(
      received: record.received,
      expected: record.expected,
      bytesPerSecond: speed
    )
    let left =
      entry.isRunning ? estimate.remaining.map { PageText.duration($0 / .seconds(1)) } : nil
    let map = RangeMap(record)
    return """
      <section class="card is-\(entry.state)" aria-label="State"><div class="body stack"><div class="big">\
      <div>\(StateLabel(word: entry.state).html)<b data-field="percent">\(percent)</b></div>\
      <div><span>Received</span><b data-field="received">\(ByteAmount.text(record.received))</b></div>\
      <div><span>Size</span><b data-field="expected">\(expected)</b></div>\
      <div><span>Speed</span><b data-field="speed">\(entry.isRunning ? PageText.speed(speed) : "–")</b></div>\
      <div><span>Time left</span><b data-field="left">\(left ?? "–")</b></div></div>\
      \(map.html)<div class="legend"><span>\(map.sentence)</span><span>\(connections)</span></div>\
      \(DownloadSentence.text(of: entry).map { "<p class=\"why \(entry.state)\">\($0)</p>" as HTML })\
      </div></section>
      """
  }

  private var connections: String {
    record.connections.map { "at most \(PageText.count(Int($0), "connection"))" }
      ?? "as many connections as the engine allows"
  }

  /// What happens next, by which rule, and why.
  private var next: HTML? {
    guard let next = NextStep(of: entry) else {
      return """
        <section class="card next"><div class="body stack"><h2>What happens next</h2>\
        <p>Nothing: the store has no root named <code>\(record.root)</code>, so the folder of the file \
        is unknown. <code>dlstore root set</code> names it.</p></div></section>
        """
    }
    let sentence: String
    var advice: String?
    let names = next.rule.split(separator: "+").count == 1 ? "rule" : "rules"
    var reason = "Decided by \(names)"
    if record.state == .failedPermanent, let last = record.attempts.last {
      sentence = "Nothing, until a command asks for it."
      advice = FailureSentence.advice(for: last.failure, record)
    } else if record.state == .paused || record.state == .waiting && record.isHeld {
      sentence = "Nothing, until it is resumed; then the engine \(next.sentence)."
    } else if entry.isRunning {
      sentence = "The engine downloads the rest."
      reason = "If it is killed now, the next engine decides by \(names)"
    } else {
      sentence = "The next engine \(next.sentence)."
    }
    let turn = QueuePositionText.text(of: record, revealsSecrets: false)
    return """
      <section class="card next" aria-labelledby="next"><div class="body stack">\
      <h2 id="next">What happens next</h2><p>\(sentence)</p>\
      \(turn.map { "<p>When: \($0).</p>" as HTML })\
      \(advice.map { "<p>Advice: \($0).</p>" as HTML })\
      <p class="small muted">\(reason) \
      <code>\(next.rule)</code>: \(next.action)</p></div></section>
      """
  }

  private var chart: HTML {
    """
    <section class="card" aria-labelledby="speed"><header><h2 id="speed">Speed</h2>\
    <span class="muted small" data-field="peak"></span></header><div class="body">\
    <svg class="chart" id="chart" viewBox="0 0 300 100" preserveAspectRatio="none" role="img" \
    aria-label="Speed over the last minutes"><line x1="0" x2="300" y1="1" y2="1"/>\
    <line x1="0" x2="300" y1="50" y2="50"/><line x1="0" x2="300" y1="99" y2="99"/>\
    <path class="area" d=""/><path class="curve" d=""/></svg><div class="legend">\
    <span>Drawn while this page is open</span><span>now</span></div></div></section>
    """
  }

  // MARK: Files

  private var files: HTML {
    var rows: [(String, HTML)] = []
    if let layout = entry.layout, let files = entry.files {
      // What is not to be there yet is not missing.
      let isEarly = record.state != .completed && files.final == .missing
      let status = isEarly ? "not there yet" : entry.finalFileStatus(files)
      rows.append(("Finished file", path(layout.finalPath, status)))
      let absent = record.received > 0 && record.state != .completed ? "missing" : "none"
      let partial =
        files.partial == .missing
        ? absent : "\(files.partial.rawValue), \(ByteAmount.text(files.partialSize))"
      rows.append(("Partial file", path(layout.partialPath, partial)))
    }
    if let resume = entry.resume {
      let from = "from byte \(PageText.number(resume.received))"
      let validator = resume.validator.map { ", if the file is still \($0)" } ?? ""
      rows.append(("Resumes", "\(from + validator)"))
    }
    if let digest = record.expectedDigest { rows.append(("Checksum required", mono(digest))) }
    if let digest = record.verifiedDigest { rows.append(("Checksum verified", mono(digest))) }
    return """
      <section class="card" aria-labelledby="files"><header><h2 id="files">Files on disk</h2></header>\
      \(FactTable(rows: rows).html)</section>
      """
  }

  private func path(_ path: String, _ status: String) -> HTML {
    "<bdi class=\"mono\">\(path)</bdi><br><span class=\"muted small\">\(status)</span>"
  }

  private func mono(_ text: String) -> HTML { "<span class=\"mono\">\(text)</span>" }

  // MARK: Attempts

  private var attempts: HTML {
    guard !record.attempts.isEmpty else { return "" }
    let rows = record.attempts.reversed().map { attempt -> HTML in
      """
      <tr><td>\(PageText.time(attempt.at))</td><td>\(entry.message(of: attempt))<br>\
      <span class="muted small">\(attempt.failure.code.title)</span></td>\
      <td class="number">\(PageText.number(attempt.received))</td>\
      <td class="mono"><bdi>\(Redaction.url(attempt.url))</bdi></td></tr>
      """
    }
    return """
      <section class="card" aria-labelledby="attempts"><header>\
      <h2 id="attempts">Failed attempts</h2></header>\
      <div class="scroll" tabindex="0" role="group" aria-labelledby="attempts"><table class="data">\
      <caption class="hidden-label">Failed attempts, the latest first</caption><thead><tr>\
      <th scope="col">Time</th><th scope="col">Reason</th><th scope="col" class="number">At byte</th>\
      <th scope="col">URL</th></tr></thead><tbody>\(Array(rows))</tbody></table></div></section>
      """
  }

  // MARK: Facts

  private var facts: HTML {
    var rows: [(String, HTML)] = [
      ("Id", mono(record.id)), ("File name", "<bdi>\(record.filename)</bdi>"),
      ("Folder", "\(record.folder.isEmpty ? "the root itself" : record.folder)"),
      ("Root", "\(record.root)"), ("Type", "\(record.type)"),
      ("Tags", "\(record.tags.sorted().joined(separator: ", "))"),
      ("Priority", "\(PageText.number(record.priority))"),
    ]
    if !record.keys.isEmpty {
      rows.append(("Keys", "\(record.keys.sorted().map(Redaction.name).joined(separator: ", "))"))
    }
    if let limit = record.bytesPerSecond {
      rows.append(("Rate limit", "\(ByteAmount.text(limit))/s"))
    }
    let times = [
      ("Not before", record.notBefore), ("Added", record.createdAt), ("Changed", record.updatedAt),
      ("Completed", record.completedAt), ("Checked", record.checkedAt),
      ("Next refresh", record.nextRefreshAt),
    ]
    rows += times.compactMap { name, time in time.map { (name, PageText.time($0)) } }
    return """
      <section class="card" aria-labelledby="facts"><header><h2 id="facts">Record</h2></header>\
      \(FactTable(rows: rows).html)</section>
      """
  }

  private var request: HTML {
    var rows: [(String, HTML)] = [("URL", url(record.url))]
    rows += record.mirrors.map { ("Mirror", url($0)) }
    if let tag = record.entityTag { rows.append(("Entity tag", mono(tag))) }
    if let modified = record.lastModified { rows.append(("Last modified", "\(modified)")) }
    rows += headers.map { field in
      let shown = Redaction.field(field)
      return ("Header", "<span class=\"mono\"><bdi>\(shown.name): \(shown.value)</bdi></span>")
    }
    return """
      <section class="card" aria-labelledby="request"><header><h2 id="request">Request</h2></header>\
      \(FactTable(rows: rows).html)</section>
      """
  }

  private func url(_ url: String) -> HTML { "<bdi class=\"mono\">\(Redaction.url(url))</bdi>" }

  private var resumeData: HTML? {
    guard let bytes = record.resumeData else { return nil }
    var rows: [(String, HTML)] = []
    do throws(ResumeDataError) {
      let data = try URLSessionResumeData(Array(bytes))
      rows = ResumeDataText.rows(of: data, revealsSecrets: false).map { name, value in
        (PageText.capitalized(name), "<bdi>\(value)</bdi>")
      }
    } catch {
      rows = [("Unusable", "\("\(error)")")]
    }
    return """
      <section class="card" aria-labelledby="resume"><header><h2 id="resume">Resume data</h2></header>\
      \(FactTable(rows: rows).html)</section>
      """
  }
}

/// The last commits that changed a download.
struct RecordHistory {
  /// The latest first.
  let commits: [RecordCommit]

  /// A table; empty without a commit.
  var html: HTML {
    guard !commits.isEmpty else { return "" }
    let rows = commits.map { commit -> HTML in
      "<tr><td class=\"number\">\(PageText.number(commit.number))</td><td>\(commit.change)</td></tr>"
    }
    return """
      <section class="card" aria-labelledby="history"><header><h2 id="history">History of the record</h2>\
      <span class="muted small">the last commits that changed it, of all processes</span></header>\
      <div class="scroll" tabindex="0" role="group" aria-labelledby="history"><table class="data">\
      <caption class="hidden-label">Commits, the latest first</caption><thead><tr>\
      <th scope="col" class="number">Commit</th><th scope="col">Change</th></tr></thead>\
      <tbody>\(rows)</tbody></table></div></section>
      """
  }
}

/// A table of names and values.
struct FactTable {
  let rows: [(String, HTML)]

  var html: HTML {
    let rows = rows.map { name, value -> HTML in
      "<tr><th scope=\"row\">\(name)</th><td>\(value)</td></tr>"
    }
    return "<table class=\"facts\"><tbody>\(rows)</tbody></table>"
  }
}

/// A commit that changed one record.
struct RecordCommit: Sendable, Hashable {
  /// The largest number of commits that are searched.
  static let searchedCount: UInt64 = 2000
  /// The largest number of commits that are shown.
  static let maximumCount = 20

  var number: UInt64
  /// What it did: `added`, `removed`, or the names of the fields.
  var change: String

  /// Finds the last commits that changed a record.
  ///
  /// - Throws: `StoreError`.
  static func last(of record: DownloadRecord, in store: Store) throws -> [RecordCommit] {
    let model = DownloadRecord.schema.name
    let key = StoredValue.string(record.url)
    let found = try store.lastStoredCommits(searchedCount).reversed().lazy.compactMap {
      commit -> RecordCommit? in
      guard let changes = commit.changes.first(where: { $0.model == model }) else { return nil }
      if changes.inserted.contains(key) {
        return RecordCommit(number: commit.number, change: "added")
      }
      guard let update = changes.updated.first(where: { $0.key == key }) else { return nil }
      return RecordCommit(number: commit.number, change: update.fields.joined(separator: ", "))
    }
    return Array(found.prefix(maximumCount))
  }
}
