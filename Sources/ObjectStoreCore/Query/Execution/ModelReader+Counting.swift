internal import LMDB

extension ModelReader {
  /// Returns the number of objects that match, or `limit` if there are more.
  ///
  /// The order, the offset and the limit of the query have no effect.
  func countMatches(_ core: ResolvedQuery, limit: Int = .max) throws -> Int {
    if core.node.isAlways { return unsafe min(try count(), limit) }
    let plan = unsafe core.plan(tables)
    var count = 0
    switch plan.access {
    case .nothing: return 0
    case .ordered(let path, _) where plan.isExact && !path.mayRepeat:
      return unsafe try countEntries(path, limit)
    case .shortest(let paths) where plan.isExact && paths.count == 1 && !paths[0].mayRepeat:
      return unsafe try countEntries(paths[0], limit)
    case .scan where unsafe core.parts(tables) == .hot:
      return unsafe try countHotMatches(core, limit)
    case .columns where plan.isExact:
      return unsafe try countColumnMatches(core, limit)
    default:
      var executor = unsafe try QueryExecutor(self, core)
      unsafe try executor.forEach(requested: []) { _, _ in
        count += 1
        return count < limit
      }
      return count
    }
  }

  private func countEntries(_ path: AccessPath, _ limit: Int) throws -> Int {
    let scan = unsafe try IndexScan(self, tables.indexes[path.index], path.ranges)
    var count = 0
    while count < limit, unsafe try scan.next() != nil { count += 1 }
    return count
  }

  /// Counts matches from the columns alone.
  private func countColumnMatches(_ core: ResolvedQuery, _ limit: Int) throws -> Int {
    var scan = unsafe try ColumnScan(self, ColumnFilter(core, tables))
    var count = 0
    while count < limit, let chunk = unsafe try scan.next() { count += chunk.matches.count }
    return min(count, limit)
  }

  /// Counts matches from the hot parts alone, one chunk at a time.
  private func countHotMatches(_ core: ResolvedQuery, _ limit: Int) throws -> Int {
    var count = 0
    var cancellation = CancellationCheck()
    let cursor = unsafe try transaction.cursor(on: tables.hot)
    var entry = unsafe try cursor.first()
    while let found = unsafe entry, count < limit {
      try cancellation.step()
      guard unsafe found.key.count == 8 else {
        throw StoreError(
          .damaged,
          unsafe "a hot chunk of \(tables.name) has a key of \(found.key.count) bytes, not 8"
        )
      }
      let number = unsafe found.key.loadUnaligned(as: UInt64.self)
      var id = number << HotChunk.shift
      do {
        let chunk =
          unsafe try changedChunks?.chunk(number)?.view
          ?? HotChunkView(found.value, number: number)
        if let mask = unsafe try core.node.mask(chunk, tables) {
          count += mask.nonzeroBitCount
        } else {
          for slot in 0..<(1 << Int(HotChunk.shift)) {
            guard let part = unsafe try chunk.part(at: slot) else { continue }
            id = number << HotChunk.shift + UInt64(slot)
            let record = unsafe try RecordView(
              hot: part,
              layout: tables.reference(part.layoutNumber)
            )
            if try core.matches(record) { count += 1 }
          }
        }
      } catch let error as RecordError {
        throw StoreError(error, model: unsafe tables.name, objectID: id)
      }
      unsafe entry = unsafe try cursor.next()
    }
    unsafe tables.logScan(
      try min(Int(cancellation.steps) << Int(HotChunk.shift), self.count()),
      core
    )
    return min(count, limit)
  }
}

extension FilterNode {
  /// Tests all parts of a chunk at once.
  ///
  /// Bit n of the result is set when the nth part passes. Returns `nil` when the parts differ in
  /// layout, or when the condition tests anything but numbers and presence; the caller then tests
  /// each part with ``makeTest()``. The loops over up to 32 parts have no call and no branch per
  /// part.
  func mask(_ chunk: HotChunkView, _ tables: ModelTables) throws(RecordError) -> UInt32? {
    let count = unsafe chunk.presence.nonzeroBitCount
    guard unsafe chunk.stride > 0, count > 0 else { return nil }
    let layout = unsafe try tables.reference(chunk.layoutNumber)
    guard unsafe chunk.stride >= HotChunk.checksumSize + layout.hotSize,
      let base = unsafe chunk.bytes.baseAddress
    else { throw RecordError(.truncated) }
    let parts = unsafe HotParts(
      base: base + HotChunk.headerSize + HotChunk.checksumSize,
      stride: chunk.stride,
      count: count,
      places: layout.places
    )
    return unsafe mask(parts)
  }

  private func mask(_ parts: HotParts) -> UInt32? {
    switch self {
    case .always: return unsafe parts.all
    case .never: return 0
    case .elements, .semiJoin: return nil
    case .not(let node):
      guard let mask = unsafe node.mask(parts) else { return nil }
      return unsafe ~mask & parts.all
    case .and(let nodes):
      var mask = unsafe parts.all
      for node in nodes {
        guard let other = unsafe node.mask(parts) else { return nil }
        mask &= other
      }
      return mask
    case .or(let nodes):
      var mask: UInt32 = 0
      for node in nodes {
        guard let other = unsafe node.mask(parts) else { return nil }
        mask |= other
      }
      return mask
    case .field(let condition):
      let place = unsafe parts.places[condition.position]
      guard place.exists, place.isHot, !place.replacesNil else { return nil }
      let present = unsafe parts.presence(of: place)
      switch condition.test {
      case .isPresent(let expected): return unsafe expected ? present : ~present & parts.all
      case .number(let number):
        guard place.width == number.form.width else { return nil }
        return unsafe present
          & number.mask(parts.base, stride: parts.stride, count: parts.count, place: place)
      case .value: return nil
      }
    }
  }
}

/// The hot parts of one chunk, all of the same layout and size.
@unsafe
private struct HotParts {
  let base: UnsafeRawPointer
  let stride: Int
  let count: Int
  let places: UnsafeBufferPointer<FieldPlace>

  var all: UInt32 { unsafe .max >> UInt32(32 - count) }

  /// Returns a mask of the parts that have a value for the field.
  func presence(of place: FieldPlace) -> UInt32 {
    var mask: UInt32 = 0
    let byte = unsafe base + place.presenceOffset
    for index in 0..<(unsafe count) {
      let bits = unsafe byte.load(fromByteOffset: index * stride, as: UInt8.self)
      mask |= (bits & place.presenceMask == 0 ? 0 : 1) << UInt32(index)
    }
    return mask
  }
}
