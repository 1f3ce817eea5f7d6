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
    left.text.hasSameUTF8(as: right.text)
  }

  package func hash(into hasher: inout Hasher) {
    // Equal hashes for canonically equal strings are harmless: `==` compares bytes.
    hasher.combine(text)
  }
}

extension StoredText: Comparable {
  package static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}
