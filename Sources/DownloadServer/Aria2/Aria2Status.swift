internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// The state of a download in the words of aria2.
enum Aria2State: String, Sendable, Hashable {
  case active, waiting, paused, error, complete, removed

  /// Returns the state of a record; `nil` for one that is about to be deleted, which clients do not see.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - engineRuns: Whether an engine runs: without one, nothing is active.
  init?(of record: DownloadRecord, engineRuns: Bool) {
    switch record.state {
    case .removed: return nil
    case .completed: self = .complete
    case .cancelled: self = .removed
    case .failedPermanent where record.intent != .cancel: self = .error
    case .running where engineRuns, .finalizing where engineRuns: self = .active
    case _ where record.intent == .cancel: self = .removed
    case .paused: self = .paused
    case .waiting where record.isHeld: self = .paused
    case .waiting, .running, .finalizing, .failedRetryable, .failedPermanent: self = .waiting
    }
  }

  /// Whether the download will not continue without a command, so that it is in the list of stopped ones.
  var isStopped: Bool {
    switch self {
    case .error, .complete, .removed: true
    case .active, .waiting, .paused: false
    }
  }
}

/// A download as aria2's `tellStatus` describes it.
///
/// All values are strings, or lists of objects.
struct Aria2Status: Sendable {
  let entry: DownloadEntry
  let state: Aria2State
  let layout: FileLayout
  /// The speed in bytes per second.
  let speed: Double?

  /// The record.
  var record: DownloadRecord { entry.record }

  /// The size of the file in bytes, as far as it is known.
  private var size: Int64 { record.expected ?? (state == .complete ? record.received : 0) }

  /// The members with the given names, or all; those that do not apply are missing.
  func object(_ keys: Set<String>?) -> JSONValue {
    var members: [JSONValue.Member] = []
    func add(_ name: String, _ value: @autoclosure () -> JSONValue?) {
      guard keys?.contains(name) ?? true, let value = value() else { return }
      members.append(JSONValue.Member(name: name, value: value))
    }
    let pieces = PieceMap(size: record.expected)
    add("bitfield", bits(pieces).map(JSONValue.string))
    add("completedLength", text(record.received))
    // The number of connections is not stored.
    add("connections", text(state == .active ? 1 : 0))
    add("dir", .string(layout.folderPath))
    add("downloadSpeed", text(state == .active ? Int64(clamping: speed) : 0))
    add("errorCode", errorCode.map { text(Int64($0)) })
    add("errorMessage", errorMessage.map(JSONValue.string))
    add("files", files)
    add("gid", .string(record.id))
    add("numPieces", text(pieces.count))
    add("pieceLength", text(pieces.pieceLength))
    add("status", .string(state.rawValue))
    add("totalLength", text(size))
    add("uploadLength", text(0))
    add("uploadSpeed", text(0))
    return .object(members)
  }

  /// The only file of the download.
  var files: JSONValue {
    .array([
      [
        "completedLength": text(record.received), "index": .string("1"), "length": text(size),
        "path": .string(layout.finalPath), "selected": .string("true"), "uris": uris,
      ]
    ])
  }

  /// The URLs of the download.
  ///
  /// First the one that identifies it, because front ends retry by adding all of them again. Mirrors
  /// with a secret are left out: redacted ones would come back as new mirrors. The one that the
  /// current or the next attempt uses is `used`.
  var uris: JSONValue {
    let source = record.source
    let mirrors = record.mirrors.filter { Redaction.url($0) == $0 }
    return .array(
      ([record.url] + mirrors).map { url in
        ["status": .string(url == source ? "used" : "waiting"), "uri": .string(url)]
      }
    )
  }

  /// The server of an active download, whose URL is redacted.
  var servers: JSONValue {
    let source = Redaction.url(record.source)
    let server: JSONValue = [
      "currentUri": .string(source), "downloadSpeed": text(Int64(clamping: speed)),
      "uri": .string(source),
    ]
    return .array([["index": .string("1"), "servers": .array([server])]])
  }

  private func bits(_ pieces: PieceMap) -> String? {
    if state == .complete { return pieces.bits(of: ByteRanges(upTo: size)) }
    return record.received > 0 ? pieces.bits(of: record.committed) : nil
  }

  private var lastAttempt: Attempt? { record.attempts.last }

  private var errorCode: Int? {
    switch state {
    case .complete: 0
    // The status of aria2 for a download that the user has removed.
    case .removed: 31
    case .active, .paused: nil
    case .waiting, .error: lastAttempt?.failure.aria2Code
    }
  }

  private var errorMessage: String? {
    switch state {
    case .complete, .removed: ""
    case .active, .paused: nil
    case .waiting, .error:
      lastAttempt.map { entry.message(of: $0) }
    }
  }

  private func text(_ number: Int64) -> JSONValue { .string(String(number)) }
}

extension Int64 {
  /// A speed as a whole number; zero if it is not known.
  init(clamping speed: Double?) {
    guard let speed, speed.isFinite else {
      self = 0
      return
    }
    self = Self(Swift.min(Swift.max(speed, 0), 1e18))
  }
}
