/// Values by URL, where two URLs are the same only if they have the same bytes.
///
/// Swift's strings are equal when they look the same; the store's keys are not.
struct URLTable<Value> {
  private struct Key: Hashable, Sendable {
    let url: String

    static func == (left: Self, right: Self) -> Bool {
      left.url.utf8.elementsEqual(right.url.utf8)
    }

    func hash(into hasher: inout Hasher) {
      // Alike for URLs that look alike, which is no mistake and fast.
      hasher.combine(url)
    }
  }

  private var entries: [Key: Value] = [:]

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
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

extension URLTable: Sendable where Value: Sendable {}
