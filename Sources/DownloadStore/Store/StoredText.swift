internal import SystemInterface

/// A string that is compared by its bytes, as the store compares it.
///
/// Swift compares strings by canonical equivalence.
package struct StoredText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  package static func == (left: Self, right: Self) -> Bool {
    // Much faster than `elementsEqual`, which calls the iterators for each byte.
    let isEqual = unsafe left.text.utf8.withContiguousStorageIfAvailable { left in
      unsafe right.text.utf8.withContiguousStorageIfAvailable { right in
        guard left.count == right.count else { return false }
        guard let one = left.baseAddress, let other = right.baseAddress else { return true }
        return unsafe memcmp(one, other, left.count) == 0
      }
    }
    return (isEqual ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    // Equal hashes for canonically equal strings are harmless: `==` compares bytes.
    hasher.combine(text)
  }
}
