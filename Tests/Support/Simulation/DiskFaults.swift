internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What is wrong with the disk at the moment.
final class DiskFaults: Sendable {
  private struct State {
    var isFull = false
    var errorProbability = 0.0
    var failedSyncProbability = 0.0

    var errorCode = EIO
  }

  // Used by the thread of the simulation alone.
  private let state = Mutex(State())

  /// Whether there is no room.
  var isFull: Bool {
    get { state.withLock { $0.isFull } }
    set { state.withLock { $0.isFull = newValue } }
  }

  /// How often a call fails.
  var errorProbability: Double {
    get { state.withLock { $0.errorProbability } }
    set { state.withLock { $0.errorProbability = newValue } }
  }

  /// How often a sync of a file fails, and loses what it was to write.
  var failedSyncProbability: Double {
    get { state.withLock { $0.failedSyncProbability } }
    set { state.withLock { $0.failedSyncProbability = newValue } }
  }

  /// The error number of a call that fails.
  var errorCode: Int32 {
    get { state.withLock { $0.errorCode } }
    set { state.withLock { $0.errorCode = newValue } }
  }

  /// The error numbers that calls fail with: a broken disk, a machine that is short of something, and
  /// a network volume that has forgotten the file.
  static let errorCodes = [EIO, EIO, EMFILE, ENFILE, ENOMEM, EAGAIN, ESTALE]
}
