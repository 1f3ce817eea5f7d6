internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// One page of the list of downloads.
struct DownloadListPage: Sendable {
  /// The number of downloads on a page.
  static let size = 50

  var query: DownloadListQuery
  var entries: [DownloadEntry] = []
  /// The position of the next page; `nil` on the last one.
  var next: String?
  /// Why downloads have failed, if the list shows them.
  var failures = FailureGroups()
  /// Whether an engine runs on the store.
  var engineRuns = false

  /// Creates a page without downloads.
  init(query: DownloadListQuery, engineRuns: Bool = false) {
    self.query = query
    self.engineRuns = engineRuns
  }

  /// Reads a page.
  ///
  /// - Throws: As ``readFailures(in:)`` and ``readDownloads(in:)``.
  init(_ query: DownloadListQuery, in store: RecordStore, engineRuns: Bool) throws {
    self.init(query: query, engineRuns: engineRuns)
    try readFailures(in: store)
    try readDownloads(in: store)
  }

  /// Says why the position of the page is none of the list, without a full stop; `nil` if it is one.
  ///
  /// Reads no download.
  ///
  /// - Throws: `StoreError`.
  func positionProblem(in store: RecordStore) throws -> String? {
    guard query.after != nil else { return nil }
    do {
      _ = try store.objects.read { tx in try self.records(in: &tx, within: .none) }
      return nil
    } catch let error as ServerError {
      return error.message
    } catch let error as StoreError where error.code == .invalidPageToken {
      return ServerError(storeError: error).message
    }
  }

  /// Reads why downloads have failed.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(1) without a host or a text; otherwise O(n) in the failed downloads.
  mutating func readFailures(in store: RecordStore) throws {
    guard query.after == nil, [nil, "failed", "retrying"].contains(query.state) else { return }
    failures = try store.objects.read { tx in try FailureGroups(query, in: &tx) }
  }

  /// Reads the downloads.
  ///
  /// - Throws: ``ServerError`` if the position is none; `StoreError`, with `invalidPageToken` if it
  ///   belongs to another order.
  /// - Complexity: O(page size) in the order of the states, without a host or a text; otherwise O(n) in
  ///   the downloads.
  mutating func readDownloads(in store: RecordStore) throws {
    let roots = try store.roots()
    let (records, next) = try store.objects.read { tx in try self.records(in: &tx) }
    entries = records.map { DownloadEntry($0, roots, engineRuns: engineRuns) }
    self.next = next
  }

  /// Returns the downloads that meet a further condition, and the position of the next page.
  private func records(
    in tx: inout Snapshot,
    within filter: Filter<DownloadRecord> = .all
  ) throws -> ([DownloadRecord], String?) {
    let size = Self.size
    let states = query.states(engineRuns: engineRuns)
    guard query.sort == .state else {
      let condition = filter && query.condition(engineRuns: engineRuns)
      let records = Self.ordered(Query(condition), by: query.sort)
      let page = try tx.page(records, size: size, after: try query.after.map(Self.token))
      return (page.objects, page.next?.description)
    }
    // One state after the other, each with its index: the position names the state.
    var (first, after): (Int, PageToken?) = (0, nil)
    if let position = query.after {
      let parts = position.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard let state = DownloadState(rawValue: String(parts[0])),
        let index = states.firstIndex(of: state)
      else { throw Self.invalidPosition }
      first = index
      if parts.count == 2, !parts[1].isEmpty { after = try Self.token(String(parts[1])) }
    }
    var records: [DownloadRecord] = []
    let narrowing = filter && query.narrowing
    for state in states[first...] {
      let found = Query(narrowing && DownloadRecord.columns.state == state)
      guard records.count < size else {
        guard try tx.exists(found) else { continue }
        return (records, "\(state.rawValue).")
      }
      let isDone = state == .completed || state == .cancelled
      let page = try tx.page(
        found.order(by: \.state, isDone ? .descending : .ascending),
        size: size - records.count,
        after: after
      )
      after = nil
      records += page.objects
      if let next = page.next { return (records, "\(state.rawValue).\(next)") }
    }
    return (records, nil)
  }

  private static func ordered(
    _ query: Query<DownloadRecord>,
    by sort: DownloadListQuery.Sort
  ) -> Query<DownloadRecord> {
    switch sort {
    case .state: query.order(by: \.state)
    case .added: query.order(by: \.createdAt, .descending)
    case .updated: query.order(by: \.updatedAt, .descending)
    case .name: query.order(by: \.filename)
    case .size: query.order(by: \.expected, .descending)
    case .received: query.order(by: \.received, .descending)
    case .priority: query.order(by: \.priority, .descending)
    }
  }

  private static var invalidPosition: ServerError {
    ServerError(.invalidRequest, "'after' is no position in the list: begin with the first page")
  }

  private static func token(_ text: String) throws -> PageToken {
    guard let token = PageToken(text) else { throw invalidPosition }
    return token
  }
}

/// The failed downloads by the code of their last failure.
struct FailureGroups: Sendable, Hashable {
  /// The number of downloads that are examined.
  static let maximumCount = 2000

  /// The downloads with one code.
  struct Group: Sendable, Hashable {
    var code: DownloadFailure.Code
    var count = 0
    /// The hosts of some of them.
    var hosts: [String] = []
  }

  /// The groups, the largest first.
  private(set) var groups: [Group] = []
  /// Whether there are more failed downloads than were examined.
  private(set) var isPartial = false

  init() {}

  /// Creates the groups of downloads, given as the URL and the last failure of each.
  init(_ failures: [(url: String, code: DownloadFailure.Code)], isPartial: Bool = false) {
    var found: [DownloadFailure.Code: Group] = [:]
    for (url, code) in failures {
      var group = found[code] ?? Group(code: code)
      group.count += 1
      let host = PageText.host(of: url)
      if group.hosts.count < 3, !host.isEmpty, !group.hosts.contains(host) {
        group.hosts.append(host)
      }
      found[code] = group
    }
    groups = found.values.sorted { ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue) }
    self.isPartial = isPartial
  }

  /// Reads the failed downloads of a list.
  ///
  /// - Throws: `StoreError`.
  init(_ query: DownloadListQuery, in tx: inout Snapshot) throws {
    var query = query
    query.reason = nil
    let failed = Query(query.narrowing && DownloadRecord.columns.state == .failedPermanent)
    let failures = try tx.fetch(failed.limit(Self.maximumCount + 1)) { view in
      (url: try view.url, code: try view.attempts.last?.failure.code ?? .unknown)
    }
    self.init(
      Array(failures.prefix(Self.maximumCount)),
      isPartial: failures.count > Self.maximumCount
    )
  }

  /// The number of downloads in all groups.
  var count: Int { groups.reduce(0) { $0 + $1.count } }
}

extension DownloadFailure.Code {
  /// What has happened, as the title of a group.
  var title: String {
    switch self {
    case .timedOut: "No data arrived in time"
    case .cannotConnect: "No connection to the server"
    case .cannotFindHost: "The name of the host is unknown, or this machine is offline"
    case .connectionLost: "The connection was lost"
    case .insecure: "The certificate of the server was rejected"
    case .badResponse: "The answer is not valid HTTP"
    case .badRedirect: "The redirects lead nowhere"
    case .unsupportedURL: "The URL cannot be downloaded"
    case .refused: "The server denied access"
    case .needsURL: "The link has expired: it needs a new one"
    case .notFound: "The server has no such file"
    case .rejected: "The server refused the request"
    case .serverBusy: "The server was busy"
    case .wrongLength: "The file had another length than declared"
    case .entityChanged: "The file on the server has changed"
    case .unexpectedCoding: "The file was sent in a coding that was not requested"
    case .digestMismatch: "The checksum of the file is wrong"
    case .pieceMismatch: "The checksum of a piece is wrong"
    case .diskFull: "The disk is full"
    case .fileSystem: "A file could not be written"
    case .fileInUse: "Another process uses the partial file"
    case .quarantined: "The process crashed at each attempt"
    case .interceptorFailed: "The command for the request failed"
    case .tooLarge: "The file is larger than allowed"
    case .outOfResources: "This machine was out of resources"
    case .fileUnavailable: "The file cannot be reached at the moment"
    case .unknown: "Another failure"
    }
  }
}
