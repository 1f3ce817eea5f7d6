internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// What the list of downloads shows, as the address of the page states it.
struct DownloadListQuery: Sendable, Hashable {
  /// The orders of the list.
  enum Sort: String, Sendable, Hashable, CaseIterable {
    /// By state: what runs, what failed, what waits, what is done.
    case state
    case added, updated, name, size, received, priority

    /// The order for people.
    var title: String {
      switch self {
      case .state: "Activity first"
      case .added: "Newest first"
      case .updated: "Last changed first"
      case .name: "Name"
      case .size: "Largest first"
      case .received: "Most received first"
      case .priority: "Highest priority first"
      }
    }
  }

  /// The word of the state; `nil` for all.
  var state: String?
  var tag: String?
  /// A host, or a pattern for hosts.
  var host: String?
  /// A text in the URL or the file name, in any case of A to Z; or a shell pattern for one of them.
  var text: String?
  /// The code of the last failure.
  var reason: DownloadFailure.Code?
  var sort = Sort.state
  /// The position after which the page begins; `nil` for the first page.
  var after: String?

  init() {}

  /// Reads the fields of an address; those that are not understood have no effect.
  init(_ fields: FormFields) {
    state = fields["state"].flatMap { DownloadState.words.contains($0) ? $0 : nil }
    tag = fields["tag"]
    host = fields["host"]
    text = fields["text"]
    reason = fields["reason"].flatMap(DownloadFailure.Code.init(rawValue:))
    sort = fields["sort"].flatMap(Sort.init(rawValue:)) ?? .state
    after = fields["after"]
  }

  /// Says which field of an address is not understood, without a full stop; `nil` if all are.
  ///
  /// A notice, and a field without a value, select nothing.
  static func problem(in fields: FormFields) -> String? {
    let query = Self(fields)
    var understood = query.fields.fields
    if query.sort == .state { understood.append(FormFields.Field(name: "sort", value: "state")) }
    let other = fields.fields.first {
      !$0.value.isEmpty && $0.name != "notice" && !understood.contains($0)
    }
    guard let other else { return nil }
    let value = other.value
    switch other.name {
    case "state" where !DownloadState.words.contains(value):
      return "‘\(value)’ is not a state; the states are: "
        + DownloadState.words.joined(separator: " ")
    case "sort" where Sort(rawValue: value) == nil:
      return "‘\(value)’ is not an order; the orders are: "
        + Sort.allCases.map(\.rawValue).joined(separator: " ")
    case "reason" where DownloadFailure.Code(rawValue: value) == nil:
      return "‘\(value)’ is not the reason of a failure"
    case "state", "sort", "reason", "tag", "host", "text", "after":
      return "the address has two values of ‘\(other.name)’"
    default:
      return "there is no filter ‘\(other.name)’; the filters are: state reason tag host text"
    }
  }

  /// The fields of the address.
  var fields: FormFields {
    var fields = FormFields()
    let values = [
      ("state", state), ("tag", tag), ("host", host), ("text", text),
      ("reason", reason?.rawValue), ("sort", sort == .state ? nil : sort.rawValue),
      ("after", after),
    ]
    for (name, value) in values {
      if let value { fields.add(name, value) }
    }
    return fields
  }

  /// The address of the list.
  var address: String {
    let query = fields.encoded
    return query.isEmpty ? "/" : "/?\(query)"
  }

  /// Returns a copy with changes, at its first page.
  func with(_ change: (inout Self) -> Void) -> Self {
    var query = self
    query.after = nil
    change(&query)
    return query
  }

  /// Whether the list leaves downloads out.
  var isFiltered: Bool { state != nil || isNarrowed }

  /// Whether the list leaves out downloads of a state.
  var isNarrowed: Bool { tag != nil || host != nil || text != nil || reason != nil }

  // MARK: Conditions

  /// The stored states that are shown, in the order of ``Sort/state``.
  func states(engineRuns: Bool) -> [DownloadState] {
    let order: [DownloadState] = [
      .running, .finalizing, .failedRetryable, .failedPermanent, .waiting, .paused, .completed,
      .cancelled,
    ]
    guard let state else { return order }
    let wanted = DownloadState.states(named: state, engineRuns: engineRuns)
    return order.filter(wanted.contains)
  }

  /// The condition on everything but the state; an index serves the tag.
  var narrowing: Filter<DownloadRecord> {
    let columns = DownloadRecord.columns
    var condition = Filter<DownloadRecord>.all
    if let tag { condition = columns.tags.contains(tag) }
    if let reason {
      condition = condition && columns.attempts.satisfies { $0.last?.failure.code == reason }
    }
    if let host {
      let pattern = HostPattern(host)
      condition = condition && columns.url.satisfies { pattern.matches(url: $0) }
    }
    if let text {
      let matches = Self.matcher(of: text)
      condition =
        condition && (columns.filename.satisfies(matches) || columns.url.satisfies(matches))
    }
    return condition
  }

  /// The condition on the state and everything else.
  func condition(engineRuns: Bool) -> Filter<DownloadRecord> {
    let columns = DownloadRecord.columns
    let states = states(engineRuns: engineRuns)
    guard state != nil else { return narrowing && columns.state != .removed }
    return states.isEmpty ? .none : narrowing && columns.state.isIn(states)
  }

  private static func matcher(of text: String) -> @Sendable (String) -> Bool {
    if text.contains(where: { "*?[".contains($0) }) {
      let pattern = GlobPattern(text)
      return { pattern.matches($0) }
    }
    let wanted = text.utf8.map(folded)
    return { contains(wanted, in: $0) }
  }

  /// Whether the bytes of a text contain others, in any case of the letters A to Z.
  private static func contains(_ wanted: [UInt8], in text: String) -> Bool {
    guard let first = wanted.first else { return true }
    let bytes = text.utf8.span
    var start = 0
    while start + wanted.count <= bytes.count {
      if folded(bytes[start]) == first,
        wanted.indices.allSatisfy({ folded(bytes[start + $0]) == wanted[$0] })
      {
        return true
      }
      start += 1
    }
    return false
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
