internal import SystemInterface

/// The steps of a run in order: as a digest, and as text if there is a listener.
final class Trace: Sendable {
  private struct State {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    var counts: [String: Int] = [:]
  }

  private let listener: (@Sendable (String) -> Void)?
  // Used only by the simulation's thread.
  private let state = Mutex(State())

  init(_ listener: (@Sendable (String) -> Void)?) {
    self.listener = listener
  }

  /// The digest of all steps (FNV-1a).
  var digest: UInt64 { state.withLock { $0.digest } }
  /// The number of occurrences of each kind of step.
  var counts: [String: Int] { state.withLock { $0.counts } }

  /// Records a step.
  func note(_ kind: String, _ details: String = "") {
    state.withLock { state in
      for byte in kind.utf8 { state.digest = (state.digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
      for byte in details.utf8 { state.digest = (state.digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
      state.counts[kind, default: 0] += 1
    }
    listener?("\(kind) \(details)")
  }
}
