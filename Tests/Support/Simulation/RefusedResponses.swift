internal import DownloadStore
internal import SystemInterface

/// Refuses some responses, as the checks of a program do.
final class RefusedResponses: Sendable {
  private let chance: Chance
  // Used only by the simulation's thread.
  private let storedProbability = Mutex(0.0)

  init(seed: UInt64) { chance = Chance(seed: seed) }

  /// The probability that a response is refused.
  var probability: Double {
    get { storedProbability.withLock { $0 } }
    set { storedProbability.withLock { $0 = newValue } }
  }

  /// Decides whether the responses of this history are refused at all.
  func choose() {
    if chance.happens(0.2) { probability = 0.15 }
  }

  /// Refuses a response, for now or for good.
  func check() throws {
    guard chance.happens(probability) else { return }
    if chance.happens(0.3) { throw Refusal() }
    throw DownloadFailure(.serverBusy, "refused by a check")
  }

  private struct Refusal: Error {}
}
