internal import DownloadMetalink
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import ProgramOutput

/// Carries out the forms of pages.
///
/// Each function returns what happened, for the next page.
struct PageCommands: Sendable {
  let store: RecordStore
  let engineRuns: Bool

  // MARK: Commands

  /// Carries out `one` (a command and an id), or `do` for the downloads `id`, or `do` for all that the
  /// list `scope` shows.
  ///
  /// - Throws: ``ServerError`` for a form of another kind; `StoreError`.
  func command(_ form: FormFields) async throws -> PageNotice {
    let back = Self.localAddress(form["back"])
    if let one = form["one"] {
      let words = one.split(separator: " ").map(String.init)
      guard words.count == 2, let command = RowCommand(rawValue: words[0]) else {
        throw Self.malformed
      }
      return try await apply(command, .named([words[1]]), back)
    }
    guard let command = form["do"].flatMap(RowCommand.init(rawValue:)) else { throw Self.malformed }
    if let scope = form["scope"] {
      let fields = FormFields(scope)
      let query = DownloadListQuery(fields)
      // A filter that is not understood would select more downloads.
      guard query.fields == fields else { throw Self.malformed }
      return try await apply(command, .matching(query.condition(engineRuns: engineRuns)), back)
    }
    let ids = form.values("id")
    guard !ids.isEmpty else { return Self.nothingSelected }
    return try await apply(command, .named(ids), back)
  }

  private func apply(
    _ command: RowCommand,
    _ targets: CommandTargets,
    _ back: String
  ) async throws -> PageNotice {
    let outcomes = try await store.inBackground { [store] in
      try store.apply(command.command, to: targets)
    }
    if command == .cancel { try await APIAction(.cancel).carryOut(outcomes, in: store) }
    let done = outcomes.filter(\.isDone).compactMap(\.record)
    var notice = PageNotice(text: sentence(command.participle, outcomes), back: back)
    notice.kind = done.isEmpty ? .warn : .good
    guard !done.isEmpty else { return notice }
    if !engineRuns, command == .resume || command == .now || command == .restart {
      notice.text += " No engine runs: 'dlstore run' downloads."
    }
    // A cancelled download that was complete keeps no bytes to return to.
    if let undo = command.undo, done.count <= PageNotice.maximumUndo {
      notice.undo = PageNotice.Undo(command: undo.command, title: undo.title, ids: done.map(\.id))
    }
    return notice
  }

  /// What happened to downloads: the name of one, or the number of several.
  private func sentence(_ participle: String, _ outcomes: [CommandOutcome]) -> String {
    let done = outcomes.filter(\.isDone)
    var parts: [String] = []
    if done.count == 1, let record = done[0].record {
      parts.append("\(participle) ‘\(record.filename)’.")
    } else if !done.isEmpty {
      parts.append("\(participle) \(PageText.count(done.count, "download")).")
    }
    let unchanged = outcomes.compactMap { outcome -> DownloadRecord? in
      guard case .unchanged(let record) = outcome.effect else { return nil }
      return record
    }
    if unchanged.count == 1 {
      let word = unchanged[0].state.word(engineRuns: engineRuns)
      parts.append("‘\(unchanged[0].filename)’ is unchanged: it is \(word).")
    } else if !unchanged.isEmpty {
      parts.append("\(PageText.count(unchanged.count, "download")) unchanged.")
    }
    let unknown = outcomes.count - done.count - unchanged.count
    if unknown > 0 { parts.append(Self.notFound(unknown)) }
    return parts.isEmpty ? "No download has changed." : parts.joined(separator: " ")
  }

  private static func notFound(_ count: Int) -> String {
    "\(PageText.count(count, "download")) not found: removed by another process?"
  }

  // MARK: Removal

  /// Removes the downloads `id`; `file` deletes their finished files.
  ///
  /// Without an engine their files and records are deleted here.
  ///
  /// - Throws: `StoreError`.
  func remove(_ form: FormFields) async throws -> PageNotice {
    let ids = form.values("id")
    guard !ids.isEmpty else { return Self.nothingSelected }
    let outcomes = try await store.inBackground { [store] in
      try store.apply(.remove(withFile: form["file"] != nil), to: .named(ids))
    }
    try await APIAction(.remove).carryOut(outcomes, in: store)
    var notice = PageNotice(text: sentence("Removed", outcomes))
    notice.kind = outcomes.contains(where: \.isDone) ? .good : .warn
    return notice
  }

  // MARK: Changes

  /// Changes the properties of the downloads `id`.
  ///
  /// - Throws: `StoreError`.
  func change(_ form: FormFields) async throws -> PageNotice {
    let ids = form.values("id")
    guard !ids.isEmpty else { return Self.nothingSelected }
    let update: RecordUpdate
    do throws(PageProblem) {
      update = try Self.update(of: form)
    } catch {
      return PageNotice(kind: .bad, text: error.message)
    }
    guard update != RecordUpdate() else {
      return PageNotice(kind: .warn, text: "Nothing to change: all fields were empty.")
    }
    // Rows have ids: the search for a file name would read all downloads, for each name.
    let records = try await store.inBackground { [store] in
      try store.records(DownloadRecord.where { $0.id.isIn(ids) && $0.state != .removed })
    }
    var changed: [DownloadRecord] = []
    let unknown = Set(ids).count - records.count
    var problems = unknown > 0 ? [Self.notFound(unknown)] : []
    for record in records {
      do {
        let outcome = try await store.update(matching: record.url, with: update)
        if let record = outcome.record { changed.append(record) }
      } catch let error as RecordStoreError {
        problems.append("\(PageText.capitalized(error.message)).")
      }
    }
    var parts: [String] = []
    if changed.count == 1 { parts = ["Changed ‘\(changed[0].filename)’."] }
    if changed.count > 1 { parts = ["Changed \(PageText.count(changed.count, "download"))."] }
    parts += problems.prefix(3)
    return PageNotice(kind: problems.isEmpty ? .good : .bad, text: parts.joined(separator: " "))
  }

  /// Reads the properties of a form.
  static func update(of form: FormFields) throws(PageProblem) -> RecordUpdate {
    var update = RecordUpdate()
    update.filename = form["filename"]
    update.type = form["type"]
    update.addedTags = tags(form["tag"])
    update.removedTags = tags(form["untag"])
    update.url = form["url"]
    if let text = form["priority"] {
      guard let priority = Int32(text) else {
        throw PageProblem("The priority ‘\(text)’ is not a whole number.")
      }
      update.priority = priority
    }
    if let text = form["limit"] {
      if text == "none" {
        update.bytesPerSecond = .some(nil)
      } else if let limit = ByteAmount.parse(text) {
        update.bytesPerSecond = limit
      } else {
        throw PageProblem("The rate limit ‘\(text)’ is not a size such as 500K or 2M, or none.")
      }
    }
    if let text = form["connections"] {
      if text == "none" {
        update.connections = .some(nil)
      } else if let count = Int32(text), count > 0 {
        update.connections = count
      } else {
        throw PageProblem(
          "The number of connections ‘\(text)’ is not a whole number above zero, or none."
        )
      }
    }
    if let name = update.filename, name.contains("/") {
      throw PageProblem("A file name has no folder: ‘\(name)’.")
    }
    return update
  }

  private static func tags(_ text: String?) -> Set<String> {
    Set(
      (text ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty }
    )
  }

  // MARK: Additions

  /// Adds the downloads of the field `text`.
  ///
  /// - Throws: `StoreError`.
  func add(_ form: FormFields) async throws -> PageNotice {
    try await store.inBackground { try addNow(form) }
  }

  private func addNow(_ form: FormFields) throws -> PageNotice {
    let list: AddedList
    do throws(PageProblem) {
      list = try AddedList(form["text"] ?? "")
    } catch {
      return PageNotice(kind: .bad, text: error.message)
    }
    var requests = list.requests
    let tags = Self.tags(form["tags"])
    for index in requests.indices {
      if let folder = form["folder"] { requests[index].folder = folder }
      requests[index].tags.formUnion(tags)
      if let text = form["priority"], text != "0" {
        guard let priority = Int32(text) else {
          return PageNotice(kind: .bad, text: "The priority ‘\(text)’ is not a whole number.")
        }
        requests[index].priority = priority
      }
      requests[index].isPaused = form["paused"] != nil
    }
    var added: [RecordStore.Added] = []
    var problems = list.problems
    do {
      added = try store.addNow(requests)
    } catch is RecordStoreError {
      // One request is refused: the others are stored.
      for request in requests {
        do {
          added += try store.addNow([request])
        } catch let error as RecordStoreError {
          problems.append(error.message)
        }
      }
    }
    return notice(added, problems)
  }

  private func notice(_ added: [RecordStore.Added], _ problems: [String]) -> PageNotice {
    let new = added.filter(\.isNew)
    let known = added.count - new.count
    var parts: [String] = []
    if new.count == 1 { parts.append("Added ‘\(new[0].record.filename)’.") }
    if new.count > 1 { parts.append("Added \(PageText.count(new.count, "download")).") }
    if known > 0 {
      parts.append(
        "\(PageText.count(known, "download")) \(known == 1 ? "was" : "were") known already."
      )
    }
    if !new.isEmpty, !engineRuns { parts.append("No engine runs: 'dlstore run' downloads.") }
    parts += problems.prefix(5).map { "Not added: \($0)." }
    if problems.count > 5 { parts.append("\(problems.count - 5) more were not added.") }
    let unkept = added.reduce(0) { $0 + $1.unkeptMirrorCount }
    if unkept > 0 {
      parts.append(
        "\(PageText.count(unkept, "mirror")) \(unkept == 1 ? "is" : "are") not kept: a download has at "
          + "most \(RecordLimits.mirrors)."
      )
    }
    if parts.isEmpty { parts = ["Nothing was added."] }
    return PageNotice(kind: problems.isEmpty ? .good : .bad, text: parts.joined(separator: " "))
  }

  // MARK: Answers

  private static var nothingSelected: PageNotice {
    PageNotice(kind: .warn, text: "No download is selected: tick the boxes of some rows first.")
  }

  private static var malformed: ServerError {
    ServerError(.invalidRequest, "the form has no command or no selection that the page knows")
  }

  /// The address to return to: a path of this server, or `/` for any other text.
  static func localAddress(_ text: String?) -> String {
    guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), !text.contains("\\"),
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return "/" }
    return text
  }
}

/// A field of a form that cannot be used, as a sentence.
struct PageProblem: Error, Sendable, Hashable {
  let message: String

  init(_ message: String) { self.message = message }
}

/// The downloads of a text that a user has pasted or dropped: a list of URLs, or a Metalink document.
struct AddedList {
  /// The largest number of downloads of one form.
  static let maximumCount = 10_000

  private(set) var requests: [DownloadRequest] = []
  /// The lines that are no downloads, as sentences.
  private(set) var problems: [String] = []

  /// Reads a text.
  init(_ text: String) throws(PageProblem) {
    let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    if start.hasPrefix("<") {
      do throws(MetalinkError) {
        let document = try Metalink(Data(start.utf8))
        requests = document.files.map { DownloadRequest($0) }
        problems = document.skipped.map { "line \($0.line): \($0.reason)" }
      } catch {
        throw PageProblem("The text is not a Metalink document: \(error.message).")
      }
    } else {
      readLines(of: text)
    }
    guard requests.count <= Self.maximumCount else {
      throw PageProblem(
        "The list has more than \(PageText.number(Self.maximumCount)) downloads: use 'dlstore add "
          + "--input-file FILE'."
      )
    }
    guard !requests.isEmpty || !problems.isEmpty else {
      throw PageProblem("Nothing to add: paste URLs, one on each line.")
    }
  }

  private mutating func readLines(of text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      // The further URLs of a line are mirrors, as in the input files of aria2.
      let urls = line.split(separator: "\t").map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty }
      guard let first = urls.first, !first.hasPrefix("#") else { continue }
      let url = first.contains("://") ? first : "https://\(first)"
      guard url.contains("."), !url.contains(" "),
        url.lowercased().hasPrefix("http://") || url.lowercased().hasPrefix("https://")
      else {
        problems.append(
          "‘\(Redaction.argument(String(first.prefix(80))))’ is not an http or https URL"
        )
        continue
      }
      var request = DownloadRequest(url: url)
      request.mirrors = Array(urls.dropFirst())
      requests.append(request)
    }
  }
}
