internal import DownloadReports
internal import DownloadStore
internal import ProgramOutput

/// The page with the list of downloads.
struct DownloadListView: Sendable {
  var page: DownloadListPage
  /// The number of downloads by the word of the state.
  let counts: [String: Int]
  /// The sum of the speeds.
  let bytesPerSecond: Double
  /// Returns the speed of a running download.
  let speed: @Sendable (String) -> Double?
  let allowsChanges: Bool

  private var query: DownloadListQuery { page.query }
  private var total: Int { counts.values.reduce(0, +) }

  /// The page, whose downloads are searched after everything else was sent.
  var parts: [PagePart] {
    [
      .ready(beginning),
      .read { store in
        var view = self
        try view.page.readFailures(in: store)
        return view.failures
      },
      .ready(listBeginning),
      .read { store in
        var view = self
        try view.page.readDownloads(in: store)
        return view.table
      },
      .ready(end),
    ]
  }

  /// The content of a page that was read.
  var html: HTML { "\(beginning)\(failures)\(listBeginning)\(table)\(end)" }

  private var beginning: HTML {
    """
    <div class="lead"><h1>Downloads</h1>\
    <p id="summary" aria-live="polite">\(summary)</p></div>
    \(stateCounts)\
    \(AddForm(isOpen: total == 0, back: query.address).html, if: allowsChanges)
    """
  }

  private var listBeginning: HTML {
    """
    <section class="card" id="list" aria-labelledby="list-title">\(filter)\(tagged)
    """
  }

  private var end: HTML { "</section>\(chosen)" }

  // MARK: Summary

  private func number(_ word: String) -> Int { counts[word] ?? 0 }

  private var summary: String {
    SummarySentence.text(counts: counts, bytesPerSecond: bytesPerSecond)
  }

  private var stateCounts: HTML {
    let words = [
      "running", "retrying", "failed", "waiting", "paused", "completed", "cancelled",
    ]
    let all = count(nil, "All", total)
    return """
      <nav aria-label="States"><ul class="counts">\(all)\
      \(words.map { count($0, PageText.capitalized($0), number($0)) })</ul></nav>
      """
  }

  private func count(_ word: String?, _ title: String, _ count: Int) -> HTML {
    let address = query.with {
      $0.state = word
      $0.reason = nil
    }
    .address
    return """
      <li><a href="\(address)"\(" class=\"zero\"", if: count == 0)\
      \(" aria-current=\"true\"", if: query.state == word)>\
      <span class="state \(word ?? "all")">\(Icon(state: word ?? "all").html) \(title)</span>\
      <b data-count="\(word ?? "all")">\(PageText.number(count))</b></a></li>
      """
  }

  // MARK: Failures

  private var failures: HTML {
    let failures = page.failures
    guard failures.count > 0 else { return "<section id=\"failures\" hidden></section>" }
    let count = "\(PageText.number(failures.count))\(failures.isPartial ? " of more" : "")"
    return """
      <section class="card" id="failures" aria-labelledby="why"><header>\
      <h2 id="why">Why \(count) failed</h2>\(retry(nil, "Retry all that failed"))</header>\
      <ul class="reasons">\(failures.groups.map(reason))</ul></section>
      """
  }

  private func reason(_ group: FailureGroups.Group) -> HTML {
    let address = query.with {
      $0.state = "failed"
      $0.reason = group.code
    }
    .address
    let hosts = group.hosts.joined(separator: ", ")
    return """
      <li><span><b>\(PageText.number(group.count))</b> \(group.code.title) \
      <bdi class="muted">\(hosts)</bdi></span>\
      <a class="button quiet" href="\(address)" aria-label="Show: \(group.code.title)">Show</a>\
      \(retry(group.code, "Retry \(PageText.number(group.count))"))</li>
      """
  }

  private func retry(_ reason: DownloadFailure.Code?, _ title: String) -> HTML? {
    guard allowsChanges else { return nil }
    let scope = query.with {
      $0.state = "failed"
      $0.reason = reason
      $0.sort = .state
    }
    return """
      <form method="post" action="/commands"><input type="hidden" name="back" value="\(query.address)">\
      <input type="hidden" name="scope" value="\(scope.fields.encoded)">\
      <button\(" class=\"primary\"", if: reason == nil) name="do" value="resume" \
      data-key="retry-\(reason?.rawValue ?? "all")">\(Icon.retrying.html) \(title)</button></form>
      """
  }

  // MARK: Filter

  private var filter: HTML {
    let sorts = DownloadListQuery.Sort.allCases.map { sort -> HTML in
      "<option value=\"\(sort.rawValue)\"\(" selected", if: sort == query.sort)>\(sort.title)</option>"
    }
    var kept = FormFields()
    if let state = query.state { kept.add("state", state) }
    if let reason = query.reason { kept.add("reason", reason.rawValue) }
    return """
      <header><h2 id="list-title">\(title)</h2>\
      <a class="button quiet" href="/tags">By tag</a>\
      <form class="fields" role="search" method="get" action="/">\(kept.inputs)\
      <div class="field wide"><label for="filter-text">Text in name or URL</label>\
      <input type="search" id="filter-text" name="text" value="\(query.text ?? "")" \
      autocomplete="off" spellcheck="false"></div>\
      <div class="field half"><label for="filter-tag">Tag</label>\
      <input type="text" id="filter-tag" name="tag" value="\(query.tag ?? "")" autocomplete="off"></div>\
      <div class="field half"><label for="filter-host">Host</label>\
      <input type="text" id="filter-host" name="host" value="\(query.host ?? "")" \
      placeholder="*.example.com" autocomplete="off"></div>\
      <div class="field half"><label for="filter-sort">Order</label>\
      <select id="filter-sort" name="sort">\(sorts)</select></div>\
      <button data-key="apply">Apply</button></form></header>
      """
  }

  private var title: String {
    query.state.map { "\(PageText.capitalized($0)) downloads" } ?? "All downloads"
  }

  /// The filters that are on, each with a link that removes it.
  private var tagged: HTML? {
    guard query.isNarrowed else { return nil }
    var chips: [HTML] = []
    func chip(_ name: String, _ value: String?, _ remove: (inout DownloadListQuery) -> Void) {
      guard let value else { return }
      chips.append(
        """
        <a class="chip on" href="\(query.with(remove).address)" \
        aria-label="Remove the filter \(name) \(value)">\(name): \(value) ✕</a>
        """
      )
    }
    chip("Text", query.text) { $0.text = nil }
    chip("Tag", query.tag) { $0.tag = nil }
    chip("Host", query.host) { $0.host = nil }
    chip("Reason", query.reason?.title) { $0.reason = nil }
    return "<div class=\"body\"><span class=\"chips\">\(chips)</span></div>"
  }

  // MARK: Table

  private var table: HTML {
    guard !page.entries.isEmpty else { return EmptyList(view: self, total: total).html }
    let rows = page.entries.map {
      DownloadRow(entry: $0, speed: speed($0.record.id), allowsChanges: allowsChanges, query: query)
        .html
    }
    return """
      <table class="downloads\(" still", if: !allowsChanges)" role="table">\
      <caption class="hidden-label">\(title), with state, progress and speed</caption>\
      <thead role="rowgroup"><tr role="row">\
      \(pickAll, if: allowsChanges)\
      <th role="columnheader" scope="col">Name</th>\
      <th class="status" role="columnheader" scope="col">State</th>\
      <th class="progress" role="columnheader" scope="col">Progress</th>\
      <th class="speed number" role="columnheader" scope="col">Speed</th>\
      <th class="left number" role="columnheader" scope="col">Time left</th>\
      \("<th class=\"do\" role=\"columnheader\" scope=\"col\">Actions</th>", if: allowsChanges)\
      </tr></thead><tbody role="rowgroup">\(rows)</tbody></table>\(pages)
      """
  }

  private var pickAll: HTML {
    """
    <th class="pick" role="columnheader" scope="col"><span class="hidden-label">Selected</span>\
    <input type="checkbox" id="pick-all" data-only="script" hidden aria-label="Select all rows of this page">\
    </th>
    """
  }

  private var pages: HTML? {
    guard query.after != nil || page.next != nil else { return nil }
    var more = query
    more.after = page.next
    let first = query.with { _ in }.address
    return """
      <nav class="pages" aria-label="Pages of the list"><span class="actions">\
      \("<a class=\"button\" href=\"\(first)\">First page</a>", if: query.after != nil)\
      <span class="muted">\(PageText.count(page.entries.count, "download")) on this page</span></span>\
      \("<a class=\"button\" rel=\"next\" href=\"\(more.address)\" data-key=\"next\">Next page</a>",
        if: page.next != nil)</nav>
      """
  }

  // MARK: Actions

  /// The form of all buttons in rows, and the bar for the selected ones.
  private var chosen: HTML? {
    guard allowsChanges else { return nil }
    let buttons = RowCommand.allCases.map { command -> HTML in
      """
      <button name="do" value="\(command.rawValue)">\(command.icon.html) \(command.title)</button>
      """
    }
    return """
      <form id="commands" method="post" action="/commands" class="chosen" aria-label="Selected downloads">\
      <input type="hidden" name="back" value="\(query.address)">\
      <div class="frame"><strong><span id="chosen-count"></span> selected</strong>\(buttons)\
      <button formmethod="get" formaction="/change">\(Icon.edit.html) Change…</button>\
      <button class="danger" formmethod="get" formaction="/remove">\(Icon.trash.html) Remove…</button>\
      </div></form>
      """
  }
}

/// The totals as one sentence; page.js writes the same.
enum SummarySentence {
  static func text(counts: [String: Int], bytesPerSecond: Double) -> String {
    func part(_ word: String) -> String? {
      let count = counts[word] ?? 0
      return count > 0 ? "\(PageText.number(count)) \(word)" : nil
    }
    let running = part("running").map {
      bytesPerSecond > 0 ? "\($0) at \(Speed.text(bytesPerSecond))" : $0
    }
    let parts = [running, part("retrying"), part("failed"), part("waiting"), part("paused")]
      .compactMap(\.self)
    if !parts.isEmpty { return parts.joined(separator: ", ") }
    return (counts["completed"] ?? 0) > 0 ? "Nothing to do: all downloads are done" : "No downloads"
  }
}

/// What the list says if it has no rows.
private struct EmptyList {
  let view: DownloadListView
  let total: Int

  var html: HTML {
    let query = view.page.query
    if query.after != nil {
      return box(
        .all,
        "No further downloads",
        "<a href=\"\(query.with { _ in }.address)\">Back to the first page</a>"
      )
    }
    guard total == 0 || !query.isFiltered else {
      let reset: HTML = "<a href=\"/\">Show all \(PageText.count(total, "download"))</a>"
      guard !query.isNarrowed, let state = query.state else {
        return box(.all, "No download matches the filters", reset)
      }
      return box(Icon(state: state), "No download is \(state)", reset)
    }
    let how: HTML =
      view.allowsChanges
      ? "Paste URLs under “Add downloads” above, or use the command line: <code>dlstore add URL</code>"
      : "Add some on the command line: <code>dlstore add URL</code>"
    return box(.logo, "No downloads yet", how)
  }

  private func box(_ icon: Icon, _ title: String, _ text: HTML) -> HTML {
    "<div class=\"empty\">\(icon.html)<strong>\(title)</strong><span>\(text)</span></div>"
  }
}

/// The page for an address that the list does not understand.
struct ListProblemView {
  /// What is not understood, without a full stop.
  let problem: String
  /// The list without it.
  let query: DownloadListQuery

  var html: HTML {
    """
    <div class="lead"><h1>Downloads</h1></div>
    <section class="card"><div class="empty">\(Icon.warning.html)\
    <strong>The address is not understood</strong><span>\(PageText.capitalized(problem)).</span>\
    <span><a href="\(query.with { _ in }.address)">Show the list without it</a></span></div></section>
    """
  }
}

/// The form that adds downloads.
struct AddForm {
  let isOpen: Bool
  let back: String
  var text = ""

  var html: HTML {
    """
    <details class="card" id="add"\(" open", if: isOpen)><summary>\(Icon.plus.html) Add downloads</summary>\
    <form class="body stack" method="post" action="/add">\
    <input type="hidden" name="back" value="\(back)">\
    <div class="field"><label for="add-text">URLs, one on each line, or the text of a Metalink file\
    <span data-only="script" hidden>; links and files can be dropped here</span></label>\
    <textarea id="add-text" class="mono" name="text" required spellcheck="false" \
    placeholder="https://example.com/file.iso">\(text)</textarea></div>\
    <div class="fields">\
    <div class="field half"><label for="add-folder">Folder</label>\
    <input type="text" id="add-folder" name="folder" autocomplete="off"></div>\
    <div class="field half"><label for="add-tags">Tags, separated by commas</label>\
    <input type="text" id="add-tags" name="tags" autocomplete="off"></div>\
    <div class="field half"><label for="add-priority">Priority</label>\
    <input type="number" id="add-priority" name="priority" value="0" min="-2147483648" max="2147483647">\
    </div><label class="check"><input type="checkbox" name="paused" value="1"> Add paused</label>\
    <button class="primary">\(Icon.plus.html) Add</button></div></form></details>
    """
  }
}
