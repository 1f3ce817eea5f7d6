internal import DownloadStore

// What ``Connections`` is told about the file, its sinks and the other transfers.

extension Connections {
  /// How far the connections of a transfer are.
  struct Progress: Sendable, Hashable {
    /// The number of bytes received.
    var received: Int64
    /// Whether the file has, or may get, gaps.
    var isSplit: Bool
    /// The number of open connections that have received bytes.
    var runningCount: Int
    /// The offset of the next byte of each connection, by number.
    var positions: [Int: Int64]
    /// Whether a connection writes nothing, because another one takes over its bytes, or has done so.
    var hasIdle: Bool
  }

  /// What is known about a file of which a connection may fetch a range.
  struct Reading: Sendable {
    /// The ranges of the open connections.
    var claims: [ConnectionPlan.Claim]
    /// The missing bytes; `nil` if the size is unknown.
    var missing: ByteRanges?
    /// What a connection would reach only after a long skip; `nil` if there is nothing.
    var spare: Range<Int64>?
    /// The number of ranges that are written.
    var rangeCount = 0
    /// The URL of the first request; `nil` if it cannot be repeated.
    var requestURL: String?
    /// The head of the last response of the first connection.
    var head: ResponseHead?
    var validator: Validator?
    /// Whether the first connection has received bytes.
    var hasProgressed = true
    /// Whether a digest that does not come from the server shows which bytes are those of the file.
    var hasRequiredDigest = false
    /// Whether the tasks write their bytes as they arrive.
    ///
    /// A background transport delivers them at the end of its task.
    var deliversRanges = true
    /// The length in bytes below which a range is not split.
    var minimumLength: Int64
    var trust = ServerTrust.Level.full
    var limits: ConnectionLimits

    /// Whether all bytes are written.
    var isComplete: Bool { missing?.isEmpty ?? false }

    /// Whether the range of a connection may be halved.
    var isSplittable: Bool {
      deliversRanges && trust == .full && hasProgressed && missing != nil
        && (validator?.isStrong == true || hasRequiredDigest)
        && head?.refusesRanges != true
        && rangeCount < ByteRanges.storedLimit / 2
    }

    /// Whether the required digest alone shows that the bytes of different servers belong together.
    private var trustsDigest: Bool { hasRequiredDigest && trust < .equalValidators }

    /// What shows that a range of another URL of the same server belongs to the file; `nil` if nothing
    /// does.
    private var sameServerProof: RangeProof? {
      guard let validator, validator.isStrong, let tag = validator.entityTag else { return nil }
      return .stated(tag)
    }

    /// The mirrors whose ranges can be shown to belong to the file.
    var usableMirrors: ConnectionSources.Mirrors {
      guard trust == .full else { return .none }
      if trustsDigest { return .all }
      return sameServerProof == nil ? .none : .ofSameOrigin
    }

    /// The range that the next connection fetches; `nil` if there is nothing to fetch.
    func nextRange(of missing: ByteRanges, minimumLength: Int64?) -> Range<Int64>? {
      switch ConnectionPlan.next(missing: missing, claims: claims, minimumLength: minimumLength) {
      case nil: nil
      case .fetch(let range): range
      case .split(let number, let offset):
        claims.first { $0.number == number }.map { offset..<$0.range.upperBound }
      }
    }

    /// What has to show that the bytes of the first URL, or of another one, belong to the file.
    func proof(fromFirst isFirst: Bool) -> RangeProof {
      if trustsDigest { return .digest }
      let own = RangeProof.unchanged(validator)
      return isFirst ? own : sameServerProof ?? own
    }
  }
}

/// The limits of connections, and how many all transfers have.
struct ConnectionLimits: Sendable, Hashable {
  private let limits: ConcurrencyLimits
  private var total = 0
  /// By scheme, host and port.
  private var counts: [String: Int] = [:]

  /// Counts connections, including those that transfers have the right to open.
  init(_ limits: ConcurrencyLimits, beside connections: some Sequence<Connections>) {
    self.limits = limits
    for connections in connections {
      let mirrors = connections.mirrorCounts
      total += connections.count
      counts[connections.origin, default: 0] += connections.count - mirrors.values.reduce(0, +)
      counts.merge(mirrors, uniquingKeysWith: +)
    }
  }

  /// Whether more connections are open than allowed.
  var areExceeded: Bool { total > limits.maximumRunning }

  /// Whether more connections to a server are open than allowed.
  func areExceeded(to origin: String) -> Bool {
    counts[origin, default: 0] > limits.maximumPerHost
  }

  /// Whether another connection to a server may be opened.
  func haveRoom(for origin: String) -> Bool {
    total < limits.maximumRunning && counts[origin, default: 0] < limits.maximumPerHost
  }
}

/// Which downloads get the ranges of one file from several servers, in this run.
struct ServerTrust: Sendable {
  /// How far the servers of a download are trusted, from most to least.
  enum Level: Int, Sendable, Hashable, Comparable {
    /// Ranges of different servers are put together.
    case full
    /// A server did not answer a request for a range as expected: the servers are used one at a time,
    /// and the file is not split.
    case oneServer
    /// Bytes of several servers did not have the required digest: also, only bytes with equal
    /// validators are put together.
    case equalValidators

    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
  }

  private var levels: [String: Level] = [:]

  /// The level of a record.
  subscript(recordID: String) -> Level { levels[recordID, default: .full] }

  /// Trusts the servers of a record at most to a level from now on.
  mutating func limit(_ recordID: String, to level: Level) {
    levels[recordID] = max(self[recordID], level)
  }
}
