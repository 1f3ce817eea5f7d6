internal import SystemInterface
internal import TestSupport

/// The source of every random choice in a simulation: one generator, so that the seed determines
/// everything.
final class Chance: Sendable {
  // Used only by the simulation's thread.
  private let generator: Mutex<SplitMix64>

  init(seed: UInt64) {
    generator = Mutex(SplitMix64(seed: seed))
  }

  /// Returns a number in the range.
  func number(in range: ClosedRange<Int>) -> Int {
    generator.withLock { Int.random(in: range, using: &$0) }
  }

  /// Returns a number from 0 up to, but not including, 1.
  func fraction() -> Double {
    generator.withLock { Double.random(in: 0..<1, using: &$0) }
  }

  /// Returns true with the given probability.
  func happens(_ probability: Double) -> Bool {
    probability > 0 && fraction() < probability
  }

  /// Returns one of the elements, or `nil` if there is none.
  func pick<C: RandomAccessCollection>(_ elements: C) -> C.Element? {
    guard !elements.isEmpty else { return nil }
    let offset = number(in: 0...elements.count - 1)
    return elements[elements.index(elements.startIndex, offsetBy: offset)]
  }
}
