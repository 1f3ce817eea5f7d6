/// An array stored in chunks that copies share until they change.
///
/// Changing one element copies its chunk and the list of chunks, not the whole array.
struct ChunkedArray<Element: Sendable>: Sendable {
  /// The target number of elements in a chunk.
  ///
  /// A chunk with twice as many is split.
  static var chunkSize: Int { 128 }

  private(set) var chunks: ContiguousArray<ContiguousArray<Element>> = []
  /// The position of the first element of each chunk.
  private(set) var starts: ContiguousArray<Int> = []
  private(set) var count = 0

  init() {}

  init(_ elements: some Sequence<Element>) {
    var chunk: ContiguousArray<Element> = []
    chunk.reserveCapacity(Self.chunkSize)
    for element in elements {
      chunk.append(element)
      if chunk.count == Self.chunkSize {
        add(chunk)
        chunk.removeAll(keepingCapacity: true)
      }
    }
    add(chunk)
  }

  private mutating func add(_ chunk: ContiguousArray<Element>) {
    guard !chunk.isEmpty else { return }
    starts.append(count)
    chunks.append(chunk)
    count += chunk.count
  }

  subscript(position: Int) -> Element {
    let chunk = chunkIndex(of: position)
    return chunks[chunk][position - starts[chunk]]
  }

  /// The index of the chunk that contains the position; the last chunk for the end position.
  private func chunkIndex(of position: Int) -> Int {
    max(starts.partitionPoint { $0 > position } - 1, 0)
  }

  /// Returns the first position whose element satisfies `condition`.
  ///
  /// - Precondition: The elements are partitioned: after the first one that satisfies `condition`,
  ///   all do.
  /// - Complexity: O(log n).
  func partitionPoint(_ condition: (Element) throws -> Bool) rethrows -> Int {
    // The first chunk whose first element satisfies the condition.
    let next = try chunks.partitionPoint { try condition($0[0]) }
    guard next > 0 else { return 0 }
    return starts[next - 1] + (try chunks[next - 1].partitionPoint(condition))
  }

  // MARK: Editing

  /// A change at a position of the array as it is before any edit of the same call.
  struct Edit {
    enum Kind {
      case insert(Element)
      case replace(Element)
      case remove
    }

    var position: Int
    var kind: Kind
  }

  /// Applies all edits.
  ///
  /// Only the chunks that contain an edit are copied.
  ///
  /// - Precondition: The edits are sorted by position. At each position, there is at most one
  ///   replacement or removal, and insertions precede it.
  /// - Complexity: O(e + c) for e edits and c chunks.
  mutating func apply(_ edits: [Edit]) {
    guard !edits.isEmpty else { return }
    var result = ChunkedArray()
    result.chunks.reserveCapacity(chunks.count + 1)
    result.starts.reserveCapacity(chunks.count + 1)
    var next = 0
    for index in chunks.indices {
      let end = starts[index] + chunks[index].count
      let isLast = index == chunks.count - 1
      let first = next
      while next < edits.count, edits[next].position < end || isLast { next += 1 }
      guard first < next else {
        result.add(chunks[index])
        continue
      }
      result.addBalanced(Self.edited(chunks[index], edits[first..<next], start: starts[index]))
    }
    if chunks.isEmpty { result.addBalanced(Self.edited([], edits[...], start: 0)) }
    self = result
  }

  private static func edited(
    _ chunk: ContiguousArray<Element>,
    _ edits: ArraySlice<Edit>,
    start: Int
  ) -> ContiguousArray<Element> {
    var result: ContiguousArray<Element> = []
    result.reserveCapacity(chunk.count + edits.count)
    var kept = 0
    for edit in edits {
      let offset = edit.position - start
      if offset > kept { result.append(contentsOf: chunk[kept..<offset]) }
      kept = max(kept, offset)
      switch edit.kind {
      case .insert(let element): result.append(element)
      case .replace(let element):
        result.append(element)
        kept += 1
      case .remove: kept += 1
      }
    }
    result.append(contentsOf: chunk[kept...])
    return result
  }

  /// Adds a chunk of any size: splits a large one, and joins a small one to the previous chunk.
  private mutating func addBalanced(_ chunk: ContiguousArray<Element>) {
    guard chunk.count < Self.chunkSize * 2 else {
      var rest = chunk[...]
      while !rest.isEmpty {
        let size = rest.count < Self.chunkSize * 2 ? (rest.count + 1) / 2 : Self.chunkSize
        add(ContiguousArray(rest.prefix(max(size, Self.chunkSize / 2))))
        rest = rest.dropFirst(max(size, Self.chunkSize / 2))
      }
      return
    }
    // Joining shrunken chunks keeps the number of small chunks low.
    if let last = chunks.last, chunk.count + last.count <= Self.chunkSize {
      count -= last.count
      chunks.removeLast()
      starts.removeLast()
      add(last + chunk)
    } else {
      add(chunk)
    }
  }
}

extension RandomAccessCollection where Index == Int {
  /// Returns the first index whose element satisfies `condition`, by binary search.
  ///
  /// - Precondition: After the first element that satisfies `condition`, all do.
  func partitionPoint(_ condition: (Element) throws -> Bool) rethrows -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if try condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
