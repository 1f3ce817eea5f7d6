internal import SystemInterface

/// The current faults of the disk.
final class DiskFaults: Sendable {
  private struct State {
    var isFull = false
    var errorProbability = 0.0
    var failedSyncProbability = 0.0

    var errorCode = EIO
  }

  // Used only by the simulation's thread.
  private let state = Mutex(State())

  /// Whether the disk is full.
  var isFull: Bool {
    get { state.withLock { $0.isFull } }
    set { state.withLock { $0.isFull = newValue } }
  }

  /// The probability that a call fails.
  var errorProbability: Double {
    get { state.withLock { $0.errorProbability } }
    set { state.withLock { $0.errorProbability = newValue } }
  }

  /// The probability that a sync of a file fails and loses the unsynced bytes.
  var failedSyncProbability: Double {
    get { state.withLock { $0.failedSyncProbability } }
    set { state.withLock { $0.failedSyncProbability = newValue } }
  }

  /// The error number of a failing call.
  var errorCode: Int32 {
    get { state.withLock { $0.errorCode } }
    set { state.withLock { $0.errorCode = newValue } }
  }

  /// The error numbers of failing calls: a broken disk, a machine short of resources, and a network
  /// volume with stale file handles.
  static let errorCodes = [EIO, EIO, EMFILE, ENFILE, ENOMEM, EAGAIN, ESTALE]
}
