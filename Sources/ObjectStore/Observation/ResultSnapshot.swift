/// The objects of a query as of one commit: a collection of values that never changes.
///
/// The snapshots of one observation share the objects that have not changed, and hold on to no
/// transaction.
public struct ResultSnapshot<Root: Model>: RandomAccessCollection, Sendable {
  /// An object under the id that the store gave it.
  struct Entry: Sendable {
    var id: UInt64
    var object: Root
  }

  var entries = ChunkedArray<Entry>()

  /// Makes a snapshot of no objects.
  public init() {}

  init(_ entries: some Sequence<Entry>) {
    self.entries = ChunkedArray(entries)
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many objects there are.
  public var endIndex: Int { entries.count }

  /// The object at a place of the query's order.
  ///
  /// - Complexity: O(log n); going over all of them costs O(n).
  public subscript(position: Int) -> Root { entries[position].object }

  /// Goes over the objects in order.
  public struct Iterator: IteratorProtocol {
    private let chunks: ContiguousArray<ContiguousArray<Entry>>
    private var chunk = 0
    private var offset = 0

    fileprivate init(_ chunks: ContiguousArray<ContiguousArray<Entry>>) {
      self.chunks = chunks
    }

    /// The next object, or `nil` at the end.
    public mutating func next() -> Root? {
      guard chunk < chunks.count else { return nil }
      defer {
        offset += 1
        if offset == chunks[chunk].count { (chunk, offset) = (chunk + 1, 0) }
      }
      return chunks[chunk][offset].object
    }
  }

  /// Begins to go over the objects.
  public func makeIterator() -> Iterator { Iterator(entries.chunks) }
}

extension ResultSnapshot: Equatable where Root: Equatable {
  /// Whether both have the same objects in the same order.
  public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}
