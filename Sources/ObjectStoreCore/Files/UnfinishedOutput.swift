internal import LMDB
internal import SystemInterface

/// A temporary file or folder beside the path that it gets once it is complete.
///
/// Its process holds a lock on it (`flock`), so other processes can tell it from one that a killed
/// process left. Only such files and folders are removed.
struct UnfinishedOutput: UnfinishedItem {
  let path: String
  /// The open file, or the open folder; it holds the lock.
  let descriptor: Int32
  private let isFolder: Bool

  /// Creates and locks a file or folder that only its owner can read.
  ///
  /// Removes those that killed processes have left for the same target.
  ///
  /// - Throws: ``StoreError`` with `permissionDenied`, `diskFull`, `notFound` or `other`.
  static func make(for target: String, isFolder: Bool) throws -> Self {
    for leftover in abandoned(of: target) { leftover.remove() }
    guard let made = try UnfinishedWork.begin({ try makeOutput(for: target, isFolder: isFolder) })
    else { throw StoreError(errno: ECANCELED, target) }
    return made
  }

  private static func makeOutput(for target: String, isFolder: Bool) throws -> Self {
    while true {
      let path = "\(target).partial-\(getpid())-\(UInt32.random(in: .min ... .max))"
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
      let file = isFolder ? mkdir(path, 0o700) : open(path, flags, 0o600)
      guard file >= 0 else { throw StoreError(errno: errno, target) }
      let descriptor = isFolder ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : file
      guard descriptor >= 0 else { throw StoreError(errno: errno, target) }
      let made = Self(path: path, descriptor: descriptor, isFolder: isFolder)
      // Another process may have taken it for a leftover before it was locked.
      guard made.lock(isNew: true) else {
        _ = close(descriptor)
        continue
      }
      return made
    }
  }

  /// Ends the work on the output, which has its final path or was removed.
  func end() {
    UnfinishedWork.end(path)
    unlockAndClose(descriptor)
  }

  /// Removes the output, ignoring errors.
  func remove() {
    removeFiles()
    end()
  }

  /// Removes the file, or the folder with the store in it, and keeps the lock.
  func removeFiles() {
    if isFolder {
      NewFileFolder.removeEnvironment(at: path, descriptor)
    } else {
      _ = unlink(path)
    }
  }

  /// Locks the output; returns `false` if another process has it, or has removed it.
  ///
  /// On a file system without locks only the process that made the output removes it.
  private func lock(isNew: Bool) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      if errno != EWOULDBLOCK, isNew { break }
      return false
    }
    var own = stat()
    var named = stat()
    guard fstat(descriptor, &own) == 0, lstat(path, &named) == 0 else { return false }
    return own.st_dev == named.st_dev && own.st_ino == named.st_ino
  }

  /// Locks the outputs that killed processes of this user have left for a target.
  private static func abandoned(of target: String) -> [Self] {
    let folder = parentFolder(of: target)
    let name = lastName(in: target)
    var found: [Self] = []
    for text in namesInFolder(folder) ?? [] {
      guard isTemporaryName(text, of: name),
        let leftover = openLeftover("\(folder)/\(text)")
      else { continue }
      found.append(leftover)
    }
    return found
  }

  /// Whether a name is that of a temporary file or folder for a target with a name.
  static func isTemporaryName(_ text: String, of name: String) -> Bool {
    let prefix = "\(name).partial-"
    guard text.utf8.starts(with: prefix.utf8) else { return false }
    let numbers = text.utf8.dropFirst(prefix.utf8.count)
      .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return numbers.count == 2
      && numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy(digits.contains) }
  }

  private static func openLeftover(_ path: String) -> Self? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0 && status.st_uid == geteuid()
    let kind = status.st_mode & S_IFMT
    let leftover = Self(path: path, descriptor: descriptor, isFolder: kind == S_IFDIR)
    guard isKnown, kind == S_IFDIR || kind == S_IFREG, leftover.lock(isNew: false) else {
      _ = close(descriptor)
      return nil
    }
    return leftover
  }
}
