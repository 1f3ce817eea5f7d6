internal import DownloadStore

/// The servers from which the connections of a download fetch its ranges.
///
/// Pure: the free connections are passed in.
struct ConnectionSources: Sendable, Hashable {
  /// A URL of the file.
  struct Source: Sendable, Hashable {
    var url: String
    /// Scheme, host and port.
    var origin: String

    init(_ url: String) {
      self.url = url
      origin = RecordIdentity.origin(of: url)
    }
  }

  /// The mirrors whose ranges can be shown to belong to the same file.
  enum Mirrors: Sendable, Hashable {
    case none
    /// Those at the scheme, host and port of the first connection.
    case ofSameOrigin
    case all
  }

  /// The number of URLs beyond which a response adds none.
  private static let limit = 32

  /// The URL of the first connection, and then the others in the order of preference.
  private(set) var all: [Source]
  private var refused: Set<Int> = []

  /// Creates the sources of a record whose first connection uses a URL.
  init(first url: String, of record: DownloadRecord) {
    all = [Source(url)]
    add([record.url] + record.mirrors.prefix(RecordLimits.mirrors), upTo: .max)
  }

  /// Adds the URLs that a response lists (RFC 6249).
  mutating func add(_ urls: [String]) {
    add(urls, upTo: Self.limit)
  }

  private mutating func add(_ urls: [String], upTo limit: Int) {
    for url in urls where all.count < limit {
      guard !all.contains(where: { $0.url.utf8.elementsEqual(url.utf8) }) else { continue }
      all.append(Source(url))
    }
  }

  /// Uses a mirror no more, because it did not deliver a range.
  mutating func refuse(_ index: Int) {
    if index > 0 { refused.insert(index) }
  }

  /// Chooses the source of the next connection: the one with the fewest, and of several the first.
  ///
  /// - Parameters:
  ///   - connections: The sources of the open connections, by index.
  ///   - mirrors: The mirrors whose ranges can be shown to belong to the same file.
  ///   - isFree: Returns whether another connection to an origin may be opened.
  /// - Returns: The index; `nil` if no source has a free connection.
  func next(
    beside connections: [Int],
    using mirrors: Mirrors,
    isFree: (_ origin: String) -> Bool
  ) -> Int? {
    let candidates = all.indices.filter { index in
      switch mirrors {
      case .none: index == 0
      case .ofSameOrigin: all[index].origin == all[0].origin
      case .all: true
      }
    }
    return candidates.filter { !refused.contains($0) && isFree(all[$0].origin) }
      .min { left, right in
        let (leftCount, rightCount) = (
          connections.count { $0 == left }, connections.count { $0 == right }
        )
        return (leftCount, left) < (rightCount, right)
      }
  }
}
