/// An array in pieces, of which copies share what has not changed: to change one element of ten
/// thousand copies one piece and the list of pieces.
struct ChunkedArray<Element: Sendable>: Sendable {
  /// Pieces are made of so many elements, and split when they have twice as many.
  static var chunkSize: Int { 128 }

  private(set) var chunks: ContiguousArray<ContiguousArray<Element>> = []
  /// How many elements come before each piece.
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

  /// The piece with that position; the last one for the end.
  private func chunkIndex(of position: Int) -> Int {
    max(starts.partitionPoint { $0 > position } - 1, 0)
  }

  /// The first position whose element meets `condition`, which those before it do not and those
  /// after it do.
  func partitionPoint(_ condition: (Element) throws -> Bool) rethrows -> Int {
    // The piece after the last one that begins with an element which does not.
    let next = try chunks.partitionPoint { try condition($0[0]) }
    guard next > 0 else { return 0 }
    return starts[next - 1] + (try chunks[next - 1].partitionPoint(condition))
  }

  // MARK: Changing

  /// One change, at a position before all changes.
  struct Edit {
    enum Kind {
      case insert(Element)
      case replace(Element)
      case remove
    }

    var position: Int
    var kind: Kind
  }

  /// Makes all changes at once; only the pieces that they touch are made anew.
  ///
  /// - Precondition: The edits are in the order of their positions; at one position all insertions
  ///   come before what happens to the element that is there, and that is one thing at most.
  /// - Complexity: O(e + p) for e edits and p pieces.
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
      result.addSmall(Self.edited(chunks[index], edits[first..<next], start: starts[index]))
    }
    if chunks.isEmpty { result.addSmall(Self.edited([], edits[...], start: 0)) }
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

  /// Adds a piece that may be too large or too small.
  private mutating func addSmall(_ chunk: ContiguousArray<Element>) {
    guard chunk.count < Self.chunkSize * 2 else {
      var rest = chunk[...]
      while !rest.isEmpty {
        let size = rest.count < Self.chunkSize * 2 ? (rest.count + 1) / 2 : Self.chunkSize
        add(ContiguousArray(rest.prefix(max(size, Self.chunkSize / 2))))
        rest = rest.dropFirst(max(size, Self.chunkSize / 2))
      }
      return
    }
    // Pieces that shrink join the one before, so that there are never many small ones.
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
  /// The first index whose element meets `condition`, which those before it do not and those after
  /// it do.
  func partitionPoint(_ condition: (Element) throws -> Bool) rethrows -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if try condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
