internal import LMDB

// Scans of indexes.

@unsafe
extension QueryExecutor {
  // MARK: Index scans

  /// Returns the distinct IDs of the path with the fewest entries, in ascending order.
  ///
  /// The paths are read in lock step until one of them ends.
  func shortest(_ paths: [AccessPath]) throws -> [UInt64] {
    guard paths.count > 1 else { return unsafe try union(paths) }
    let scans = unsafe try paths.map {
      unsafe try IndexScan(reader, index(of: $0), $0.ranges)
    }
    var found = unsafe scans.map { _ in [UInt64]() }
    while true {
      for number in unsafe scans.indices {
        for _ in 0..<64 {
          guard let id = unsafe try scans[number].nextID() else {
            return Set(found[number]).sorted()
          }
          found[number].append(id)
        }
      }
    }
  }

  /// Returns the distinct IDs of all paths, in ascending order.
  func union(_ paths: [AccessPath]) throws -> [UInt64] {
    var ids: [UInt64] = []
    for path in paths {
      let scan = unsafe try IndexScan(reader, index(of: path), path.ranges)
      while let id = unsafe try scan.nextID() { ids.append(id) }
    }
    ids.sort()
    guard paths.count > 1 || paths.contains(where: \.mayRepeat) else { return ids }
    var last: UInt64?
    return ids.filter { id in
      defer { last = id }
      return id != last
    }
  }

  private func index(of path: AccessPath) -> ModelTables.Index {
    unsafe reader.tables.indexes[path.index]
  }

  // MARK: Ordered index scans

  /// Calls `body` with the object ID of each entry in the order of the query, whether or not the
  /// object matches.
  ///
  /// Returns `false` if the scan ended because it had read `maxEntries` entries.
  mutating func scanIndex(
    _ path: AccessPath,
    _ isReversed: Bool,
    maxEntries: Int,
    _ body: (inout QueryExecutor, UInt64) throws -> Bool
  ) throws -> Bool {
    let index = unsafe index(of: path)
    let ranges = unsafe remainingRanges(path, isReversed)
    let scan = unsafe try IndexScan(reader, index, ranges, isReversed: isReversed)
    let hasStrings = index.parts.dropFirst(path.fixedParts).contains { $0.width == nil }
    var remainingEntries = maxEntries
    // Truncated strings are ordered by their hash. Entries that share a truncated prefix are
    // collected and sorted by the full values before they are emitted.
    var group: [UInt64] = []
    var groupKey: [UInt8] = []
    while let key = unsafe try scan.next() {
      guard remainingEntries > 0 else { return false }
      remainingEntries -= 1
      let id = unsafe try scan.objectID(key)
      let truncation = unsafe hasStrings ? index.truncationOffset(key) : nil
      if !group.isEmpty {
        if let truncation,
          unsafe UnsafeRawBufferPointer(rebasing: key[..<truncation]).isSame(as: groupKey)
        {
          group.append(id)
          continue
        }
        guard unsafe try flush(&group, body) else { return true }
      }
      if let truncation {
        group = [id]
        groupKey = unsafe Array(key[..<truncation])
      } else {
        guard unsafe try body(&self, id) else { return true }
      }
    }
    return unsafe try flush(&group, body) || true
  }

  private mutating func flush(
    _ group: inout [UInt64],
    _ body: (inout QueryExecutor, UInt64) throws -> Bool
  ) throws -> Bool {
    guard !group.isEmpty else { return true }
    var sorter = unsafe Sorter(core.order, limit: .max, after: nil)
    for id in group {
      let record = unsafe try existingRecord(id, testedParts)
      unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
    }
    group = []
    for id in sorter.sortedIDs() {
      guard unsafe try body(&self, id) else { return false }
    }
    return true
  }

  /// Returns the ranges of the path that follow the start of the page.
  private func remainingRanges(_ path: AccessPath, _ isReversed: Bool) -> [KeyRange] {
    guard let start = unsafe core.start else { return path.ranges }
    let index = unsafe index(of: path)
    // Every range has the same values in the fixed parts.
    guard let prefix = index.prefix(ofParts: path.fixedParts, of: path.ranges[0].lower)
    else { return path.ranges }
    var bound = prefix
    var isExact = true
    let sortColumns = unsafe core.order.columns.enumerated().filter { _, column in
      index.parts.dropFirst(path.fixedParts).contains { $0.position == column.position }
    }
    for (number, column) in sortColumns {
      let key = start.keys[number]
      let isString = column.width == nil
      if isString, key.count - 3 > index.maximumContentSize / 2 {
        // The index may have truncated the value: start with all entries that share its prefix.
        bound += key.prefix(min(key.count - 2, index.maximumContentSize / 2))
        isExact = false
        break
      }
      bound += key
    }
    if isExact { bound = KeyEncoding.append(start.id, to: bound) }
    let range =
      isReversed
      ? KeyRange(lower: [], upper: KeyRange.successor(of: bound))
      : KeyRange(lower: bound, upper: nil)
    return KeyRange.intersection(path.ranges, [range])
  }

  /// Returns the IDs of the first matches, read through an index for which the query fixes no
  /// value.
  ///
  /// Falls back to a table scan if too few entries match.
  mutating func orderedIDs(_ path: AccessPath, _ isReversed: Bool) throws -> [UInt64] {
    let needed = unsafe core.neededCount
    let maxEntries = unsafe max(1_000, try reader.count() / 8)
    var ids: [UInt64] = []
    let isComplete = unsafe try scanIndex(path, isReversed, maxEntries: maxEntries) {
      executor,
      id in
      let record = unsafe try executor.existingRecord(id, executor.testedParts)
      if unsafe try executor.isAfterStart(record, id), unsafe try executor.matches(record, id) {
        ids.append(id)
      }
      return ids.count < needed
    }
    return unsafe isComplete ? ids : try sortedByTableScan()
  }
}
