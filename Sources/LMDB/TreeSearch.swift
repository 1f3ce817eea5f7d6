/// A search of a tree that is interleaved with another one.
///
/// It waits for memory in each step: for the start of a page, or for the node to compare with. The
/// step before requests that memory, so two searches in turn wait at the same time.
@unsafe
struct TreeSearch {
  enum State {
    case running
    case ended
    /// A page was not what its parent says.
    case failed
  }

  private let tree: IntegerTree
  private let key: UInt64
  private var search: PageSearch
  /// The level of the page that is searched; the root has level 1.
  private var level = 1
  /// Whether the start of the page was read, not only requested.
  private var hasBegun = false

  /// Requests the root of the tree; `nil` if there is no such page.
  @inline(__always)
  init?(_ tree: IntegerTree, _ key: UInt64) {
    guard let root = unsafe tree.page(tree.root) else { return nil }
    unsafe self.tree = unsafe tree
    unsafe self.key = key
    unsafe search = unsafe PageSearch(page: root)
  }

  /// Runs one step.
  @inline(__always)
  mutating func step() -> State {
    let isLeaf = unsafe level == tree.depth
    guard unsafe hasBegun else {
      unsafe hasBegun = true
      let isRightKind = unsafe search.begin(
        key,
        isLeaf: isLeaf,
        tree.pageSize,
        requestingAround: tree.neighbors
      )
      return isRightKind ? .running : .failed
    }
    if unsafe search.step(key) { return .running }
    guard !isLeaf else { return .ended }
    guard let child = unsafe tree.page(search.child) else { return .failed }
    unsafe search.page = unsafe child
    unsafe level += 1
    unsafe hasBegun = false
    return .running
  }

  /// The value of the key, at the end; see ``IntegerTree/value(of:)``.
  @inline(__always)
  var value: UnsafeRawBufferPointer? { unsafe tree.value(search, key) }
}

extension TransactionReference {
  /// Returns the value of a key in each of two databases with integer keys, as ``value(of:in:)`` does.
  ///
  /// In a read transaction both are searched at the same time if the first one is large, which takes
  /// less time than one search after the other.
  package func values(
    of first: UInt64,
    in database: Database,
    and second: UInt64,
    in other: Database
  ) throws(LMDBError) -> (first: UnsafeRawBufferPointer?, second: UnsafeRawBufferPointer?) {
    if let tree = unsafe try tree(of: database), unsafe tree.isLarge,
      let otherTree = unsafe try self.tree(of: other),
      let found = unsafe Self.search(tree, first, otherTree, second)
    {
      return unsafe found
    }
    return unsafe (try value(of: first, in: database), try value(of: second, in: other))
  }

  /// Searches two trees; `nil` if LMDB must be asked.
  @inline(__always)
  private static func search(
    _ firstTree: IntegerTree,
    _ firstKey: UInt64,
    _ secondTree: IntegerTree,
    _ secondKey: UInt64
  ) -> (first: UnsafeRawBufferPointer?, second: UnsafeRawBufferPointer?)? {
    guard var first = unsafe TreeSearch(firstTree, firstKey),
      var second = unsafe TreeSearch(secondTree, secondKey)
    else { return nil }
    var firstState = TreeSearch.State.running
    var secondState = TreeSearch.State.running
    while firstState == .running || secondState == .running {
      if firstState == .running { firstState = unsafe first.step() }
      if secondState == .running { secondState = unsafe second.step() }
    }
    guard firstState == .ended, secondState == .ended, let firstValue = unsafe first.value,
      let secondValue = unsafe second.value
    else { return nil }
    return unsafe (
      firstValue.baseAddress == nil ? nil : firstValue,
      secondValue.baseAddress == nil ? nil : secondValue
    )
  }
}
