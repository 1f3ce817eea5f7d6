internal import TestSupport

/// The random choices of a mutator, determined by a seed.
public struct RandomChoices: RandomNumberGenerator {
  private var generator: SplitMix64

  /// Creates a generator.
  ///
  /// Equal seeds produce equal choices.
  public init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
  }

  /// Returns the next number.
  public mutating func next() -> UInt64 { generator.next() }

  /// Returns a number from 0 up to, but not including, `count`; 0 if `count` is not positive.
  public mutating func number(_ count: Int) -> Int {
    Int.random(in: 0..<max(1, count), using: &self)
  }

  /// Returns an element of an array that is not empty.
  public mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[number(elements.count)]
  }

  /// Removes, copies or swaps elements of a list, or inserts one of `others`.
  public mutating func rearrange<Element>(_ list: inout [Element], with others: [Element]) {
    switch number(4) {
    case 0 where !list.isEmpty: list.remove(at: number(list.count))
    case 1 where !list.isEmpty: list.insert(pick(list), at: number(list.count + 1))
    case 2 where list.count > 1: list.swapAt(number(list.count), number(list.count))
    default: if !others.isEmpty { list.insert(pick(others), at: number(list.count + 1)) }
    }
  }

  /// Changes, removes, copies or inserts bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - interesting: The values of single bytes that are replaced or inserted.
  public mutating func changeBytes(_ bytes: inout [UInt8], interesting: [UInt8]) {
    guard !bytes.isEmpty else { return bytes.append(pick(interesting)) }
    let place = number(bytes.count)
    switch number(6) {
    case 0: bytes[place] ^= 1 << UInt8(number(8))
    case 1: bytes[place] = pick(interesting)
    case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + number(16)))
    case 3:
      let part = bytes[place..<min(bytes.count, place + 1 + number(32))]
      bytes.insert(contentsOf: part, at: number(bytes.count))
    case 4: bytes.removeSubrange(place...)
    default: bytes.insert(pick(interesting), at: place)
    }
  }
}
