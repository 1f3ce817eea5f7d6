/// The files below a folder during the replay of a recording, and the states that a power cut may
/// leave.
///
/// The model is a journaling file system. A sync of a file makes its bytes, its size and its names
/// durable; a sync of a folder makes the names in it durable; a write to a descriptor opened with
/// `O_DSYNC` makes its own bytes durable. Of the other writes, each sector of 512 bytes keeps any
/// number in order, independently of other sectors. Changes of sizes and of names are lost from the
/// last one back.
public struct RecordedDisk: Sendable {
  /// A kind of sync that has no effect, which proves that a check can fail.
  public enum Defect: Sendable, Hashable, CaseIterable {
    /// `fsync` and `fdatasync` of partial and finished files.
    case fileSyncs
    /// `fsync` of folders.
    case folderSyncs
    /// `fdatasync` of `data.mdb`.
    case storeSyncs
    /// `O_DSYNC` of `data.mdb`.
    case durableWrites
  }

  static let sectorSize = 512

  private let defect: Defect?
  private var files: [Int: RecordedFile] = [:]
  private var names = RecordedNames()
  /// The current file of each inode number; numbers of deleted files are reused.
  private var identifiers: [UInt64: Int] = [:]
  private var nextIdentifier = 0
  /// The changes that the syncs in progress will make durable.
  private var syncs: [SyncKey: (changes: Int, names: Int)] = [:]

  private struct SyncKey: Hashable {
    var thread: UInt64
    var path: String
  }

  /// Creates an empty folder.
  public init(defect: Defect? = nil) {
    self.defect = defect
  }

  // MARK: Replaying

  /// Applies the change of a system call.
  ///
  /// - Parameters:
  ///   - call: The next call of the recording.
  ///   - isPending: Whether the power is cut during the call, so that none of it is durable.
  public mutating func apply(_ call: SystemCall, isPending: Bool = false) {
    switch call.change {
    case .open(let path, let inode):
      guard names.current[path] == nil else { return }
      files[nextIdentifier] = RecordedFile(inode: inode, modified: call.modified)
      identifiers[inode] = nextIdentifier
      names.append([path: .file(nextIdentifier)])
      nextIdentifier += 1
    case .write(let inode, let offset, let bytes, let isDurable):
      let isDurable = isDurable && !isPending && defect != .durableWrites
      change(inode) {
        $0.write(bytes, at: offset, modified: call.modified, isDurable: isDurable)
      }
    case .truncate(let inode, let size):
      change(inode) { $0.truncate(to: size, modified: call.modified) }
    case .touch(let inode):
      change(inode) { $0.touch(modified: call.modified) }
    case .syncBegan(let inode, let path):
      guard let identifier = identifiers[inode], let file = files[identifier] else { return }
      let key = SyncKey(thread: call.thread, path: path)
      syncs[key] = (file.changeCount, names.changeCount)
    case .syncEnded(let inode, let path):
      let isStore = path.hasSuffix("/data.mdb")
      guard let covered = syncs.removeValue(forKey: SyncKey(thread: call.thread, path: path)),
        defect != (isStore ? .storeSyncs : .fileSyncs), !isPending,
        let identifier = identifiers[inode]
      else { return }
      change(inode) { $0.settle(changesBefore: covered.changes) }
      names.settle(changesBefore: covered.names) { $0.values.contains(.file(identifier)) }
    case .folderSyncBegan(let path):
      syncs[SyncKey(thread: call.thread, path: path)] = (0, names.changeCount)
    case .folderSyncEnded(let path):
      guard let covered = syncs.removeValue(forKey: SyncKey(thread: call.thread, path: path)),
        defect != .folderSyncs, !isPending
      else { return }
      names.settle(changesBefore: covered.names) { change in
        change.keys.contains { RecordedNames.parent(of: $0) == path }
      }
    case .link(let old, let new): names.append([new: names.current[old]])
    case .rename(let old, let new): names.append([old: nil, new: names.current[old]])
    case .unlink(let path): names.append([path: nil])
    case .makeFolder(let path): names.append([path: .folder])
    }
  }

  private mutating func change(_ inode: UInt64, _ body: (inout RecordedFile) -> Void) {
    guard let identifier = identifiers[inode] else { return }
    body(&files[identifier, default: RecordedFile(inode: inode, modified: 0)])
  }

  // MARK: Cutting

  /// The state if nothing is lost.
  public var whole: DiskImage { image(names.current, files.mapValues(\.whole)) }

  /// Returns a state that a power cut can leave.
  public func cut(using random: inout some RandomNumberGenerator) -> DiskImage {
    let loss = PowerLoss.random(using: &random)
    let lasting = names.cut(loss, using: &random)
    var left: [Int: DiskImage.File] = [:]
    for (_, node) in lasting.sorted(by: { $0.key < $1.key }) {
      guard case .file(let identifier) = node, left[identifier] == nil else { continue }
      left[identifier] = files[identifier]?.cut(loss, using: &random)
    }
    return image(lasting, left)
  }

  private func image(
    _ names: [String: RecordedNames.Node],
    _ contents: [Int: DiskImage.File]
  ) -> DiskImage {
    var image = DiskImage()
    for (path, node) in names {
      switch node {
      case .folder: image.folders.insert(path)
      case .file(let identifier): image.files[path] = contents[identifier]
      }
    }
    return image
  }
}
