/// A dictionary of values by URL, which compares URLs byte by byte.
///
/// Swift compares strings by canonical equivalence, but the store compares its keys by bytes.
struct URLTable<Value> {
  private struct Key: Hashable, Sendable {
    let url: String

    static func == (left: Self, right: Self) -> Bool {
      left.url.utf8.elementsEqual(right.url.utf8)
    }

    func hash(into hasher: inout Hasher) {
      // Equal hashes for canonically equal strings are harmless: `==` compares bytes.
      hasher.combine(url)
    }
  }

  private var entries: [Key: Value] = [:]

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  var values: some Collection<Value> { entries.values }
  /// The URLs in byte order, which is the same in every run.
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
