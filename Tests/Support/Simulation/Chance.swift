internal import Synchronization
internal import TestSupport

/// Where all that is left to chance in a simulation comes from: one generator, so that the seed says
/// everything.
final class Chance: Sendable {
  // Used by the thread of the simulation alone.
  private let generator: Mutex<SplitMix64>

  init(seed: UInt64) {
    generator = Mutex(SplitMix64(seed: seed))
  }

  /// A number of the range.
  func number(in range: ClosedRange<Int>) -> Int {
    generator.withLock { Int.random(in: range, using: &$0) }
  }

  /// A number from zero up to but not including one.
  func fraction() -> Double {
    generator.withLock { Double.random(in: 0..<1, using: &$0) }
  }

  /// Whether something happens that happens that often.
  func happens(_ probability: Double) -> Bool {
    probability > 0 && fraction() < probability
  }

  /// One of the elements; `nil` when there is none.
  func pick<C: RandomAccessCollection>(_ elements: C) -> C.Element? {
    guard !elements.isEmpty else { return nil }
    let offset = number(in: 0...elements.count - 1)
    return elements[elements.index(elements.startIndex, offsetBy: offset)]
  }
}
