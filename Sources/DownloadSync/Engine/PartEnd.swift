internal import DownloadStore

/// What to do when a connection of a download with several ranges ends.
///
/// Pure.
enum PartEnd: Sendable, Hashable {
  /// The transfer is over, once the other connections have ended: the caller cancels them.
  ///
  /// - `isSplittable`: Whether the server may be trusted with ranges again.
  case endAll(TransferResult, isSplittable: Bool)
  /// Other connections are running; they take over the rest.
  ///
  /// - `isRefused`: Whether the server is not to get as many connections again, or the mirror none.
  /// - `isSplittable`: Whether the server may be trusted with ranges again.
  case leaveRest(isRefused: Bool, isSplittable: Bool = true)
  /// No connection is running, and some bytes are missing: start the next one.
  ///
  /// - `isRefused`: Whether the mirror is not to be used again.
  case startNext(isRefused: Bool)

  /// Decides.
  ///
  /// - Parameters:
  ///   - result: The result of the connection.
  ///   - hasProgressed: Whether the connection has received bytes.
  ///   - isFirst: Whether the connection is the first one, whose response decides about the bytes on
  ///     disk.
  ///   - others: The number of the other running connections.
  ///   - isComplete: Whether all bytes of the file are written.
  ///   - isOfMirror: Whether the connection is one to another server than the first one.
  ///   - isReplaced: Whether the engine has ended the connection, and the transfer is to continue.
  init(
    _ result: TransferResult,
    hasProgressed: Bool,
    isFirst: Bool = false,
    others: Int,
    isComplete: Bool,
    isOfMirror: Bool = false,
    isReplaced: Bool = false
  ) {
    switch result {
    case .notModified:
      self = .endAll(result, isSplittable: false)
    case _ where isComplete && !result.isFailure:
      self = .endAll(.complete, isSplittable: true)
    case .complete:
      self = others > 0 ? .leaveRest(isRefused: false) : .startNext(isRefused: false)
    case .cancelled where isReplaced:
      self = others > 0 ? .leaveRest(isRefused: false) : .startNext(isRefused: false)
    case .failed(let failure, _) where isOfMirror && !failure.code.traits.contains(.local):
      let isRefused = !hasProgressed || !failure.code.traits.contains(.connection)
      self = others > 0 ? .leaveRest(isRefused: isRefused) : .startNext(isRefused: isRefused)
    case .startOver where others > 0 && !isFirst:
      // The running connections still deliver the version of which the file has bytes.
      self = .leaveRest(isRefused: true, isSplittable: false)
    case .startOver:
      self = .endAll(result, isSplittable: false)
    case .cancelled:
      self = others > 0 ? .leaveRest(isRefused: false) : .endAll(result, isSplittable: true)
    case .failed(let failure, _) where others > 0 && !failure.code.traits.contains(.file):
      // A server that closes connections without sending anything would do so again.
      self = .leaveRest(
        isRefused: !hasProgressed || !failure.code.traits.contains(.connection),
        isSplittable: failure.code.traits.contains(.rangesStay)
      )
    case .failed(let failure, _):
      self = .endAll(result, isSplittable: failure.code.traits.contains(.rangesStay))
    }
  }

  /// Decides about a closed connection.
  init(_ end: Connections.End, others: Int, isComplete: Bool) {
    self.init(
      end.result,
      hasProgressed: end.connection.hasProgressed,
      isFirst: end.connection.number == 0,
      others: others,
      isComplete: isComplete,
      isOfMirror: end.connection.source > 0,
      isReplaced: end.connection.isReplaced
    )
  }

  /// Whether the server may be trusted with ranges again.
  var isSplittable: Bool {
    switch self {
    case .endAll(_, let isSplittable), .leaveRest(_, let isSplittable): isSplittable
    case .startNext: true
    }
  }

  /// Whether the server is not to get as many connections again, or the mirror none.
  var isRefused: Bool {
    switch self {
    case .leaveRest(let isRefused, _), .startNext(let isRefused): isRefused
    case .endAll: false
    }
  }
}
