internal import DownloadStore

/// What this process knows of a file that it writes, so that changes by other programs show.
///
/// Pure: the identities of the file are passed in.
struct FileWatch: Sendable, Hashable {
  /// What another program has done to the file.
  enum Interference: Int, Sendable, Hashable, Comparable {
    /// Its size or its modification time is another one: some bytes may have changed.
    case changed
    /// It was truncated, so some bytes are lost.
    case truncated
    /// Its name is gone, or names another file.
    case replaced

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The failure of the attempt.
    var failure: DownloadFailure {
      let what =
        switch self {
        case .changed: "changed"
        case .truncated: "truncated"
        case .replaced: "deleted or replaced"
        }
      return DownloadFailure(.fileInUse, "another program has \(what) the partial file")
    }
  }

  /// What another program has done, as far as it was noticed.
  private(set) var interference: Interference?
  /// Whether another program has done anything since the file was opened or emptied.
  private(set) var hasInterference = false
  /// Whether another program has made the file longer, so that it may have been shorter in between.
  private(set) var isExtended = false
  /// The number of changes by this process that are in progress.
  private var changeCount = 0
  /// The size of the file after the last change by this process.
  private var size: Int64 = 0
  /// The identity of the file after the last change by this process; `nil` during one.
  private var identity: FileIdentity?

  /// Begins with a file as it was opened.
  init(_ identity: FileIdentity? = nil) {
    self.identity = identity
    size = identity?.size ?? 0
  }

  /// Compares the file with what the last change by this process has left.
  mutating func compare(with current: FileIdentity?) {
    guard let current else { return }
    if current.size < size {
      note(.truncated)
      // Later changes are compared with what is left.
      size = current.size
    } else if let identity, identity != current {
      note(.changed)
      isExtended = isExtended || current.size > size
    }
    if identity != nil { identity = current }
  }

  private mutating func note(_ found: Interference) {
    hasInterference = true
    interference = max(interference ?? found, found)
  }

  /// Notes that this process is about to change the file.
  ///
  /// - Parameters:
  ///   - current: The identity of the file.
  ///   - newSize: The size to which the change truncates the file; `nil` if it does not.
  mutating func beginChange(of current: FileIdentity?, truncatingTo newSize: Int64? = nil) {
    compare(with: current)
    changeCount += 1
    identity = nil
    // Another thread may look at the file before the change has ended.
    if let newSize { size = min(size, newSize) }
  }

  /// Notes that this process has changed the file.
  ///
  /// - Parameters:
  ///   - current: The identity of the file.
  ///   - newSize: Returns the size of the file after the change, given the previous one.
  mutating func endChange(of current: FileIdentity?, _ newSize: (Int64) -> Int64) {
    size = newSize(size)
    changeCount -= 1
    // While other changes are in progress, the time says nothing.
    if changeCount == 0 { identity = current }
  }

  /// Notes that the name of the file is gone, or names another one.
  mutating func noteReplaced() {
    note(.replaced)
  }

  /// Notes that the bytes of a file that may have been changed are as they should be.
  mutating func noteVerified() {
    guard interference == .changed else { return }
    interference = nil
    isExtended = false
  }

  /// Notes that the file was emptied: no byte is left that another program could have changed.
  mutating func noteEmptied() {
    guard interference != .replaced else { return }
    interference = nil
    hasInterference = false
    isExtended = false
  }
}
