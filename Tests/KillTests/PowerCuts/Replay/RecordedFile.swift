/// A file during the replay of a recording: its durable bytes, and the changes since.
struct RecordedFile: Sendable {
  private struct Change: Sendable {
    var number: Int
    /// The range of the changed bytes; for a new size, up to the end of the longer version.
    var range: Range<Int>
    /// The new bytes; `nil` for zeros.
    var bytes: [UInt8]?
    /// The size of the file after the change.
    var size: Int
    var modified: Int64

    /// Applies the part of the change that lies in `part` of the file.
    func apply(to buffer: inout [UInt8], in part: Range<Int>) {
      let part = range.clamped(to: part)
      guard !part.isEmpty else { return }
      if buffer.count < part.upperBound {
        buffer += [UInt8](repeating: 0, count: part.upperBound - buffer.count)
      }
      if let bytes {
        let start = part.lowerBound - range.lowerBound
        buffer.replaceSubrange(part, with: bytes[start..<start + part.count])
      } else {
        buffer.replaceSubrange(part, with: [UInt8](repeating: 0, count: part.count))
      }
    }
  }

  let inode: UInt64
  private var current: [UInt8] = []
  private var durable: [UInt8] = []
  private var durableModified: Int64
  private var changes: [Change] = []
  /// By sector, the number of the last change that is durable there although later changes of the
  /// whole file are not.
  private var settledSectors: [Int: Int] = [:]
  /// The number of changes so far, including durable ones.
  private(set) var changeCount = 0

  init(inode: UInt64, modified: Int64) {
    self.inode = inode
    durableModified = modified
  }

  // MARK: Changes

  mutating func write(_ bytes: [UInt8], at offset: Int, modified: Int64, isDurable: Bool) {
    guard !bytes.isEmpty else { return }
    let range = offset..<offset + bytes.count
    append(range, bytes, size: max(current.count, range.upperBound), modified)
    guard isDurable else { return }
    for sector in Self.sectors(of: range) { settleSector(sector) }
    if durable.count < range.upperBound { resize(&durable, to: range.upperBound) }
    durableModified = modified
  }

  mutating func truncate(to size: Int, modified: Int64) {
    let range = min(size, current.count)..<max(size, current.count)
    append(range, nil, size: size, modified)
  }

  mutating func touch(modified: Int64) {
    append(current.count..<current.count, nil, size: current.count, modified)
  }

  private mutating func append(
    _ range: Range<Int>,
    _ bytes: [UInt8]?,
    size: Int,
    _ modified: Int64
  ) {
    let change = Change(
      number: changeCount,
      range: range,
      bytes: bytes,
      size: size,
      modified: modified
    )
    changeCount += 1
    change.apply(to: &current, in: range)
    resize(&current, to: size)
    changes.append(change)
  }

  private mutating func settleSector(_ sector: Int) {
    settledSectors[sector] = changeCount - 1
    let start = sector * RecordedDisk.sectorSize
    let end = min(start + RecordedDisk.sectorSize, current.count)
    guard start < end else { return }
    if durable.count < end { resize(&durable, to: end) }
    durable.replaceSubrange(start..<end, with: current[start..<end])
  }

  /// Makes the changes with a number below `count` durable.
  mutating func settle(changesBefore count: Int) {
    let settled = changes.prefix { $0.number < count }
    guard let last = settled.last else { return }
    if settled.count == changes.count {
      durable = current
      settledSectors = [:]
    } else {
      for change in settled { apply(change, to: &durable) }
      resize(&durable, to: max(last.size, settledSize))
    }
    durableModified = last.modified
    changes.removeFirst(settled.count)
  }

  /// Applies a change where no later change is durable already.
  private func apply(_ change: Change, to buffer: inout [UInt8]) {
    guard !settledSectors.isEmpty else { return change.apply(to: &buffer, in: change.range) }
    for sector in Self.sectors(of: change.range)
    where settledSectors[sector, default: -1] < change.number {
      change.apply(to: &buffer, in: Self.range(of: sector))
    }
  }

  // MARK: Results

  /// The file if nothing is lost.
  var whole: DiskImage.File {
    DiskImage.File(
      inode: inode,
      bytes: current,
      modified: changes.last?.modified ?? durableModified
    )
  }

  /// Returns the file as a power cut can leave it.
  func cut(_ loss: PowerLoss, using random: inout some RandomNumberGenerator) -> DiskImage.File {
    var bytes = durable
    var bySector: [Int: [Change]] = [:]
    for change in changes {
      for sector in Self.sectors(of: change.range)
      where settledSectors[sector, default: -1] < change.number {
        bySector[sector, default: []].append(change)
      }
    }
    for (sector, changes) in bySector.sorted(by: { $0.key < $1.key }) {
      for change in changes.prefix(loss.kept(of: changes.count, using: &random)) {
        change.apply(to: &bytes, in: Self.range(of: sector))
      }
    }
    let kept = loss.kept(of: changes.count, using: &random)
    let last = kept > 0 ? changes[kept - 1] : nil
    resize(&bytes, to: max(last?.size ?? durable.count, settledSize))
    return DiskImage.File(
      inode: inode,
      bytes: bytes,
      modified: last?.modified ?? durableModified
    )
  }

  /// The end of the last sector that is durable by itself.
  private var settledSize: Int {
    guard let last = settledSectors.keys.max() else { return 0 }
    return min(durable.count, (last + 1) * RecordedDisk.sectorSize)
  }

  private static func sectors(of range: Range<Int>) -> Range<Int> {
    guard !range.isEmpty else { return 0..<0 }
    let size = RecordedDisk.sectorSize
    return range.lowerBound / size..<(range.upperBound + size - 1) / size
  }

  private static func range(of sector: Int) -> Range<Int> {
    sector * RecordedDisk.sectorSize..<(sector + 1) * RecordedDisk.sectorSize
  }
}

private func resize(_ bytes: inout [UInt8], to size: Int) {
  if bytes.count > size {
    bytes.removeLast(bytes.count - size)
  } else {
    bytes += [UInt8](repeating: 0, count: size - bytes.count)
  }
}
