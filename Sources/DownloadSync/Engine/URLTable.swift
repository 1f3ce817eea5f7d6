/// Values by URL, where two URLs are the same only if they have the same bytes.
///
/// Swift's strings are equal when they look the same; the store's keys are not.
struct URLTable<Value> {
  private struct Key: Hashable {
    let url: String

    static func == (left: Self, right: Self) -> Bool {
      left.url.utf8.elementsEqual(right.url.utf8)
    }

    func hash(into hasher: inout Hasher) {
      for byte in url.utf8 { hasher.combine(byte) }
    }
  }

  private var entries: [Key: Value] = [:]

  var isEmpty: Bool { entries.isEmpty }
  var values: some Collection<Value> { entries.values }
  /// The URLs, in an order that does not depend on chance.
  var urls: [String] {
    entries.keys.map(\.url).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  subscript(_ url: String) -> Value? {
    get { entries[Key(url: url)] }
    set { entries[Key(url: url)] = newValue }
    _modify { yield &entries[Key(url: url)] }
  }

  mutating func removeAll() {
    entries = [:]
  }
}
