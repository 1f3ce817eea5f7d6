internal import DownloadSync
internal import Foundation
internal import SystemInterface

/// Real files, and the state that a power cut would leave of them.
///
/// The model is a journaling file system: a sync of a file makes its bytes and its name durable, a
/// sync of a folder the names in it. Of other bytes at the end of a file a power cut keeps all,
/// none, or a prefix, with zeros for some of them; of those elsewhere in it all, none, or a range. Of
/// other changes of names it keeps a prefix.
///
/// A failed sync loses the unsynced bytes, as on Linux: they can still be read, but no later sync
/// writes them unless they are written again.
final class SimulatedDisk: Sendable {
  fileprivate struct Inode: Sendable {
    /// The durable bytes.
    var synced: [UInt8] = []
    var identity: FileCalls.Identity
    /// By offset, whether a failed sync has lost the byte.
    var lost: [Bool] = []

    /// Returns the bytes that a sync makes durable when the file has the given bytes.
    func written(_ bytes: [UInt8]) -> [UInt8] {
      guard lost.contains(true) else { return bytes }
      return bytes.enumerated().map { index, byte in
        guard index < lost.count, lost[index] else { return byte }
        return index < synced.count ? synced[index] : 0
      }
    }

    /// Records a failed sync of a file with the given bytes.
    mutating func lose(_ bytes: [UInt8]) {
      let written = written(bytes)
      lost = bytes.indices.map { $0 >= synced.count || synced[$0] != written[$0] || isLost($0) }
    }

    /// Records that bytes were written, so that the next sync covers them.
    mutating func rewrite(_ part: Range<Int>) {
      for index in part.clamped(to: lost.indices) { lost[index] = false }
    }

    private func isLost(_ index: Int) -> Bool { index < lost.count && lost[index] }
  }

  fileprivate struct State: Sendable {
    var inodes: [UInt64: Inode] = [:]
    var journal = NameJournal()
    /// The contents of files when their sync began.
    var syncs: [String: (inode: UInt64, bytes: [UInt8], identity: FileCalls.Identity)] = [:]
  }

  /// The folder with the engine's files.
  let folder: String
  /// The folder with a second link to each file that is about to be deleted, so that it can be
  /// restored.
  ///
  /// Files are linked no earlier, because engines write to no file that has a second name.
  private let vault: String
  private let defects: Set<Defect>
  // Used only by the simulation's thread.
  private let state = Mutex(State())

  init(in scratch: String, defects: Set<Defect>) throws {
    folder = "\(scratch)/store/files"
    vault = "\(scratch)/vault"
    self.defects = defects
    for path in [folder, vault] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
  }

  // MARK: Effects of engines

  /// Called before an effect.
  func willPerform(_ effect: Effect) {
    switch effect {
    case .remove(let path), .rename(_, to: let path): keep(path)
    default: break
    }
    guard case .synchronize(let path) = effect, let identity = FileCalls.identity(of: path),
      let bytes = try? FileCalls.read(path)
    else { return }
    state.withLock { $0.syncs[path] = (identity.inode, bytes, identity) }
  }

  /// Called after an effect has failed.
  func didRefuse(_ effect: Effect) {
    if case .synchronize(let path) = effect, let identity = FileCalls.identity(of: path),
      let bytes = try? FileCalls.read(path)
    {
      state.withLock { $0.inodes[identity.inode]?.lose(bytes) }
    }
  }

  /// Called after an effect.
  func didPerform(_ effect: Effect) {
    switch effect {
    case .open(let path): adopt(path)
    case .link(_, let path): adopt(path)
    case .rename(let old, let path):
      adopt(path)
      state.withLock { $0.journal.append(old, nil) }
    case .remove(let path): state.withLock { $0.journal.append(path, nil) }
    case .synchronize(let path): finishSync(path)
    case .synchronizeFolder(let folder):
      guard !defects.contains(.foldersAreNotSynced) else { return }
      state.withLock { $0.journal.settle { $0.path.hasPrefix(folder + "/") } }
    case .write(let path, let offset, let count):
      change(path) { $0.rewrite(Int(offset)..<Int(offset) + count) }
    case .cut(let path, let size):
      change(path) { $0.lost.removeLast(max(0, $0.lost.count - Int(size))) }
    case .makeFolder, .commit, .reserve: break
    }
  }

  private func change(_ path: String, _ change: (inout Inode) -> Void) {
    guard let identity = FileCalls.identity(of: path) else { return }
    state.withLock { state in
      guard var inode = state.inodes[identity.inode] else { return }
      change(&inode)
      state.inodes[identity.inode] = inode
    }
  }

  private func adopt(_ path: String) {
    guard let identity = FileCalls.identity(of: path) else { return }
    state.withLock { state in
      if state.inodes[identity.inode] == nil {
        state.inodes[identity.inode] = Inode(identity: identity)
      }
      if state.journal.inode(named: path) != identity.inode {
        state.journal.append(path, identity.inode)
      }
    }
  }

  /// Links a file in the vault, unless it is there already.
  private func keep(_ path: String) {
    guard let identity = FileCalls.identity(of: path) else { return }
    try? FileCalls.link(path, "\(vault)/\(identity.inode)")
  }

  /// Links every file in the vault, before another process deletes some.
  func keepAll() {
    for name in names { keep("\(folder)/\(name)") }
  }

  /// Removes the vault's links to all files that have another name.
  private func releaseVault() {
    for name in names {
      guard let identity = FileCalls.identity(of: "\(folder)/\(name)") else { continue }
      FileCalls.remove("\(vault)/\(identity.inode)")
    }
  }

  private func finishSync(_ path: String) {
    guard !defects.contains(.filesAreNotSynced) else { return }
    state.withLock { state in
      guard let sync = state.syncs.removeValue(forKey: path) else { return }
      if let written = state.inodes[sync.inode]?.written(sync.bytes) {
        state.inodes[sync.inode]?.synced = written
      }
      state.inodes[sync.inode]?.identity = sync.identity
      if state.journal.inode(named: path) == sync.inode {
        state.journal.settle { $0.path == path }
      }
    }
  }

  // MARK: Durable state

  /// Returns the bytes of a file after a power cut; `nil` if its name would be lost.
  func lasting(_ path: String) -> [UInt8]? {
    state.withLock { state in
      state.journal.promised(path).flatMap { state.inodes[$0]?.synced }
    }
  }

  /// The filenames in the folder.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  /// Returns whether a file exists and has no second name in the folder.
  func isOnlyName(_ path: String) -> Bool {
    guard let identity = FileCalls.identity(of: path) else { return false }
    return names.count { FileCalls.identity(of: "\(folder)/\($0)")?.inode == identity.inode } == 1
  }

  // MARK: Volumes

  /// The files of a volume that is not mounted.
  struct Volume: Sendable {
    fileprivate var state: State
    fileprivate var path: String
  }

  /// Moves all files away, as an unmount does, which first writes what is not synced.
  ///
  /// Nothing stays in memory, so bytes that a failed sync has lost cannot be read any more.
  ///
  /// No engine has a file open.
  ///
  /// - Throws: Errors of the file system.
  func unmount() throws -> Volume {
    releaseVault()
    for name in names {
      let path = "\(folder)/\(name)"
      guard let identity = FileCalls.identity(of: path) else { continue }
      let bytes = try FileCalls.read(path)
      let written = state.withLock { state -> [UInt8]? in
        guard var inode = state.inodes[identity.inode] else { return nil }
        inode.synced = inode.written(bytes)
        inode.lost = []
        inode.identity = identity
        state.inodes[identity.inode] = inode
        return inode.synced
      }
      guard let written, written != bytes else { continue }
      try FileCalls.write(written, to: path)
      try FileCalls.setTime(of: path, to: identity)
    }
    let path = "\(folder)-away"
    try FileManager.default.moveItem(atPath: folder, toPath: path)
    // A mount point is an empty folder.
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    return state.withLock { state in
      state.journal.settle { _ in true }
      state.syncs = [:]
      defer { state = State() }
      return Volume(state: state, path: path)
    }
  }

  /// Mounts a volume, which hides the files that were created without it.
  ///
  /// - Throws: Errors of the file system.
  func mount(_ volume: Volume) throws {
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.moveItem(atPath: volume.path, toPath: folder)
    state.withLock { $0 = volume.state }
  }

  // MARK: Changes by other processes

  /// Creates or changes a file durably, as another process would.
  ///
  /// - Parameters:
  ///   - bytes: The new contents.
  ///   - path: The file.
  ///   - time: The modification time of the file; `nil` for the time of the call.
  /// - Throws: Errors of the file system.
  func put(
    _ bytes: [UInt8],
    at path: String,
    modified time: FileCalls.Identity? = nil
  ) throws {
    try Self.write(bytes, to: path)
    if let time { try FileCalls.setTime(of: path, to: time) }
    adopt(path)
    guard let identity = FileCalls.identity(of: path) else { return }
    state.withLock { state in
      state.inodes[identity.inode]?.synced = bytes
      state.inodes[identity.inode]?.lost = []
      state.inodes[identity.inode]?.identity = identity
      state.journal.settle { $0.path == path }
    }
  }

  /// Puts a new file in the place of another one, durably, as another process would.
  ///
  /// - Throws: Errors of the file system.
  func replace(_ path: String, with bytes: [UInt8]) throws {
    delete(path)
    try put(bytes, at: path)
  }

  /// Deletes a file durably, as another process would.
  func delete(_ path: String) {
    keep(path)
    FileCalls.remove(path)
    state.withLock { state in
      state.journal.append(path, nil)
      state.journal.settle { $0.path == path }
    }
  }

  /// Records the names that another process has removed.
  func noteRemovals() {
    releaseVault()
    let there = Set(names.map { "\(folder)/\($0)" })
    state.withLock { state in
      for path in state.journal.current where !there.contains(path) {
        state.journal.append(path, nil)
      }
    }
  }

  /// Records that another process has renamed files and synced the folder.
  func noteRenames() {
    noteRemovals()
    for name in names { adopt("\(folder)/\(name)") }
    state.withLock { $0.journal.settle { _ in true } }
  }

  /// Reverts some or all changes that are not durable.
  ///
  /// No engine has a file open.
  ///
  /// - Parameters:
  ///   - chance: Chooses what is left.
  ///   - tearsInside: Whether files have unsynced bytes between synced ones.
  /// - Throws: Errors of the file system.
  func cutPower(_ chance: Chance, tearsInside: Bool) throws {
    var state = state.withLock { $0 }
    keepAll()
    state.journal.cut(keeping: chance.number(in: 0...state.journal.changes.count))
    for name in names { FileCalls.remove("\(folder)/\(name)") }
    let linked = Set(state.journal.lasting.values)
    for (path, inode) in state.journal.lasting.sorted(by: { $0.key < $1.key }) {
      guard var file = state.inodes[inode] else { continue }
      let place = "\(vault)/\(inode)"
      let bytes = try FileCalls.read(place)
      let written = file.written(bytes)
      let left =
        tearsInside && !written.starts(with: file.synced) && chance.happens(0.7)
        ? Self.tornInside(written, synced: file.synced, chance)
        : Self.torn(written, synced: file.synced, chance)
      if left != bytes {
        try Self.write(left, to: place)
        if left == file.synced { try FileCalls.setTime(of: place, to: file.identity) }
      }
      file.synced = left
      file.lost = []
      if let identity = FileCalls.identity(of: place) { file.identity = identity }
      state.inodes[inode] = file
      try FileCalls.link(place, path)
    }
    for inode in state.inodes.keys where !linked.contains(inode) {
      FileCalls.remove("\(vault)/\(inode)")
      state.inodes[inode] = nil
    }
    state.syncs = [:]
    self.state.withLock { $0 = state }
    releaseVault()
  }

  /// Writes a file, and does not set its modification time back.
  ///
  /// The time may lie ahead, after a change that another program has made hours later.
  private static func write(_ bytes: [UInt8], to path: String) throws {
    let previous = FileCalls.identity(of: path)
    try FileCalls.write(bytes, to: path)
    guard let previous, let current = FileCalls.identity(of: path),
      (previous.seconds, previous.nanoseconds) > (current.seconds, current.nanoseconds)
    else { return }
    try FileCalls.setTime(of: path, to: previous)
  }

  /// Returns the bytes that are left if only the synced ones are guaranteed.
  private static func torn(_ bytes: [UInt8], synced: [UInt8], _ chance: Chance) -> [UInt8] {
    guard bytes != synced else { return synced }
    switch chance.number(in: 0...3) {
    case 0: return synced
    case 1: return bytes
    default:
      guard bytes.count > synced.count else { return synced }
      let length = chance.number(in: synced.count...bytes.count)
      let written = chance.number(in: synced.count...length)
      return synced + bytes[synced.count..<written]
        + [UInt8](repeating: 0, count: length - written)
    }
  }

  /// Returns the bytes that are left of a file with unsynced bytes between synced ones.
  private static func tornInside(
    _ bytes: [UInt8],
    synced: [UInt8],
    _ chance: Chance
  ) -> [UInt8] {
    let length = max(synced.count, chance.number(in: 0...bytes.count))
    let start = chance.number(in: 0...length)
    let end = chance.number(in: start...length)
    return (0..<length).map { index in
      start..<end ~= index && index < bytes.count
        ? bytes[index] : index < synced.count ? synced[index] : 0
    }
  }
}
