internal import DownloadStore

/// A dictionary of values by URL, which compares URLs byte by byte, as the store does.
struct URLTable<Value> {
  private var entries: [StoredText: Value] = [:]

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  var values: some Collection<Value> { entries.values }
  /// The URLs in byte order, which is the same in every run.
  var urls: [String] { entries.keys.sorted().map(\.text) }

  subscript(_ url: String) -> Value? {
    get { entries[StoredText(url)] }
    set { entries[StoredText(url)] = newValue }
    _modify { yield &entries[StoredText(url)] }
  }

  mutating func removeAll() {
    entries = [:]
  }
}

extension URLTable: Sendable where Value: Sendable {}

/// A set of URLs, which compares them byte by byte, as the store does.
package struct URLSet: Sendable, Hashable {
  private let texts: Set<StoredText>

  /// The URLs, in the order of their bytes.
  var urls: [String] { texts.sorted().map(\.text) }

  /// Creates a set of some URLs.
  package init(_ urls: some Sequence<String>) {
    texts = Set(urls.map(StoredText.init))
  }

  package var count: Int { texts.count }

  package func contains(_ url: String) -> Bool { texts.contains(StoredText(url)) }
}

extension URLSet: ExpressibleByArrayLiteral {
  /// Creates a set of some URLs.
  package init(arrayLiteral urls: String...) {
    self.init(urls)
  }
}
