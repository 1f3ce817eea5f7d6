internal import Synchronization

/// What happened, in order: as a digest, and for people if somebody listens.
final class Trace: Sendable {
  private struct State {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    var counts: [String: Int] = [:]
  }

  private let listener: (@Sendable (String) -> Void)?
  // Used by the thread of the simulation alone.
  private let state = Mutex(State())

  init(_ listener: (@Sendable (String) -> Void)?) {
    self.listener = listener
  }

  /// Of everything that happened (FNV-1a).
  var digest: UInt64 { state.withLock { $0.digest } }
  /// How often each kind of thing happened.
  var counts: [String: Int] { state.withLock { $0.counts } }

  /// Notes that something happened.
  func note(_ kind: String, _ details: String = "") {
    state.withLock { state in
      for byte in kind.utf8 { state.digest = (state.digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
      for byte in details.utf8 { state.digest = (state.digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
      state.counts[kind, default: 0] += 1
    }
    listener?("\(kind) \(details)")
  }
}
