internal import DownloadStore

/// The files that are on their way from their last byte to their final names.
///
/// Owns the stage of each file and decides what comes next. Pure: ``next()`` returns an effect, the
/// engine performs it, and ``step(_:)`` notes the result. Each effect concerns all files that have
/// reached its stage, so that many small files share their syncs and commits.
///
/// The stages are those of ``Finalizer``: the digests, the sync of the bytes, the commit that logs
/// the rename, the rename, the sync of the folder, and the commit that completes the record. The
/// next launch repairs a kill at any point between them.
///
/// An effect that throws is returned again, unless it ends the completion of its file.
struct Completion {
  /// A file whose bytes have all arrived.
  struct File: Sendable {
    let key: TransferKey
    /// The record as it was when the transfer started.
    let record: DownloadRecord
    /// The digest that the file must have; `nil` if none is known.
    var expectedDigest: String?
    /// Whether its pieces have to be compared with their digests first.
    var comparesPieces = false
    /// Whether its bytes came from several servers, versions or attempts.
    var isMixed = false
    /// Whether its bytes were copied from a finished file.
    var isCopy = false
    /// The digest that was compared with the expected one, if there is one.
    var verified: CheckedDigest?
  }

  /// What follows for the bytes of a file that cannot be completed.
  enum Bytes: Sendable, Hashable {
    /// They count.
    case keep
    /// Some of them have changed on disk.
    case discard(ByteRanges)
    /// They are useless.
    case drop
    /// They are useless, and the next attempt starts without a wait.
    ///
    /// The value is the number of bytes that are lost; `nil` for those that the store counts.
    case restart(from: Int64?)
  }

  /// The end of a file that cannot be completed.
  struct Failed: Sendable {
    /// The record as it was when the transfer started, or when the rename was logged.
    var record: DownloadRecord
    var failure: DownloadFailure
    var bytes = Bytes.keep
    /// Whether the servers have delivered other bytes than required.
    var blamesServers = false
    /// Whether the finished file whose bytes were copied does not have them.
    var refusesCopy = false
    /// The digest that the file does not have, if that is the failure.
    var comparedDigest: String?
    /// The head of the last response, if its transfer is no longer active.
    var head: ResponseHead?
  }

  /// A step that the engine performs.
  enum Effect: Sendable {
    /// Compare the last pieces of a file, and all pieces if another program may have changed it.
    case comparePieces(File)
    /// Read a file beside the loop and compute its digest.
    case computeDigest(File, Digest.Algorithm)
    /// Sync the bytes of files. Their transfers are over.
    case synchronize([File])
    /// Commit that files are about to be renamed, with their identities.
    case log([FinishedFile])
    /// Rename files.
    case rename([FinishedFile])
    /// Commit other names of files, because other files have taken the ones that they had.
    case reserveNames([FinishedFile])
    /// Sync folders, so that the names in them survive a power failure.
    case synchronizeFolders([StoredText])
    /// Handle a transfer that turned out not to be complete.
    case settle(TransferKey, TransferResult)
    /// Commit a failed attempt.
    case fail(Failed)
    /// Handle a file that no longer belongs to its record.
    case release(FinishedFile)
  }

  /// What has happened.
  ///
  /// The results of an effect are in the order of its files.
  enum Input {
    /// All bytes of a file have arrived.
    case arrived(File)
    /// The rename of a file was logged by a previous process, or undone by a power failure.
    case renameLogged(FinishedFile)
    /// The pieces were compared; the result is that of the transfer if it is not complete.
    case piecesCompared(TransferResult?)
    /// The digest of a file was computed, or the file could not be read.
    ///
    /// If the digest is not the expected one: the bytes that have changed on disk, and whether
    /// another program has touched the file.
    case digestComputed(
      TransferKey,
      Result<CheckedDigest, PartialFile.Failure>,
      changed: ByteRanges,
      hadInterference: Bool
    )
    /// Files were synced.
    case synchronized([Result<FinishedFile, PartialFile.Failure>])
    /// The renames of files were committed; `nil` for those that their records no longer want.
    case logged([FinishedFile?])
    /// Files were renamed, or not.
    case renamed([FilePlacement.Outcome])
    /// Other names were committed; `nil` for files whose records have changed.
    case namesReserved([FinishedFile?])
    /// Folders were synced; the failures by folder.
    case foldersSynchronized([StoredText: PartialFile.Failure])
    /// The records of the first of ``placed`` were completed, or no longer want that.
    case committed(Int)
  }

  // Each file is in one of these.
  private var uncompared: [File] = []
  private var undigested: [(file: File, algorithm: Digest.Algorithm)] = []
  private var digesting: [File] = []
  private var checked: [File] = []
  private var synced: [FinishedFile] = []
  private var logged: [FinishedFile] = []
  private var nameless: [FinishedFile] = []
  private var renamed: [FinishedFile] = []
  /// The files that are in place, whose records are to be completed.
  ///
  /// The engine chooses the commit: it may be the one that starts the next downloads.
  private(set) var placed: [FinishedFile] = []
  /// The effects that end the completion of a file.
  private var ends: [Effect] = []

  /// Returns the next effect; `nil` if there is none before the next input.
  ///
  /// An earlier stage comes first, so that its files share the later ones. Failures come last: an
  /// error while one is handled concerns no other file.
  mutating func next() -> Effect? {
    if let file = uncompared.first { return .comparePieces(file) }
    if let (file, algorithm) = undigested.first {
      undigested.removeFirst()
      digesting.append(file)
      return .computeDigest(file, algorithm)
    }
    if !checked.isEmpty { return .synchronize(checked) }
    if !synced.isEmpty { return .log(synced) }
    if !logged.isEmpty { return .rename(logged) }
    if !nameless.isEmpty { return .reserveNames(nameless) }
    if !renamed.isEmpty { return .synchronizeFolders(renamed.map(\.layout).folders) }
    return ends.isEmpty ? nil : ends.removeFirst()
  }

  /// Whether an effect is to be performed before the next input.
  var isReady: Bool {
    !(uncompared.isEmpty && undigested.isEmpty && checked.isEmpty && synced.isEmpty
      && logged.isEmpty && nameless.isEmpty && renamed.isEmpty && ends.isEmpty)
  }

  /// Whether the rename of a record's file is logged, and the record is not completed yet.
  func isRenaming(_ record: DownloadRecord) -> Bool {
    guard record.state == .finalizing else { return false }
    return [logged, nameless, renamed, placed].contains { files in
      files.contains { $0.record.id == record.id }
    }
  }

  /// Notes what has happened.
  mutating func step(_ input: Input) {
    switch input {
    case .arrived(let file):
      if file.comparesPieces { uncompared.append(file) } else { digest(file) }
    case .renameLogged(let file):
      logged.append(file)
    case .piecesCompared(let result):
      let file = uncompared.removeFirst()
      if let result { ends.append(.settle(file.key, result)) } else { digest(file) }
    case .digestComputed(let key, let digest, let changed, let hadInterference):
      guard let index = digesting.firstIndex(where: { $0.key == key }) else { return }
      compare(digesting.remove(at: index), digest, changed, hadInterference: hadInterference)
    case .synchronized(let results):
      for (file, result) in take(results, from: &checked) { note(result, of: file) }
    case .logged(let results):
      for (file, result) in take(results, from: &synced) {
        if let result { note(named: result) } else { ends.append(.release(file)) }
      }
    case .renamed(let outcomes):
      for (file, outcome) in take(outcomes, from: &logged) { note(outcome, of: file) }
    case .namesReserved(let files):
      // A record that has changed is handled when the engine reads the change.
      for file in take(files, from: &nameless).compactMap(\.1) { note(named: file) }
    case .foldersSynchronized(let failures):
      for file in renamed {
        if let failure = failures[StoredText(file.layout.folderPath)] {
          // The record keeps the file identity, so that the next attempt recognizes the file.
          fail(file, failure.asDownloadFailure)
        } else {
          placed.append(file)
        }
      }
      renamed = []
    case .committed(let count):
      placed.removeFirst(count)
    }
  }

  /// Removes the files of an effect from their stage, and returns them with the results.
  private func take<Item, R>(_ results: [R], from files: inout [Item]) -> [(Item, R)] {
    defer { files.removeFirst(results.count) }
    return Array(zip(files, results))
  }

  /// Continues with a file whose name is committed, unless it requires one that another file has.
  private mutating func note(named file: FinishedFile) {
    if let failure = file.nameFailure { fail(file, failure) } else { logged.append(file) }
  }

  /// Continues with the digest of a file, or its sync if no digest is known.
  private mutating func digest(_ file: File) {
    guard let expected = file.expectedDigest else { return checked.append(file) }
    if let digest = try? Digest(expected) {
      undigested.append((file, digest.algorithm))
    } else {
      failCheck(file, "'\(expected)' is not a supported digest")
    }
  }

  private mutating func compare(
    _ file: File,
    _ digest: Result<CheckedDigest, PartialFile.Failure>,
    _ changed: ByteRanges,
    hadInterference: Bool
  ) {
    let expected = file.expectedDigest ?? ""
    switch digest {
    case .success(let digest) where digest.digest.text == expected:
      var file = file
      file.verified = digest
      checked.append(file)
    case .success(let digest) where file.isCopy:
      // No server is at fault, and the next attempt asks one.
      let message = Self.mismatch(of: digest.digest, with: expected)
      let failure = DownloadFailure(.fileSystem, "the copied bytes are wrong: \(message)")
      ends.append(
        .fail(
          Failed(
            record: file.record,
            failure: failure,
            bytes: .restart(from: nil),
            refusesCopy: true,
            comparedDigest: expected
          )
        )
      )
    case .success where !changed.isEmpty:
      // The server is not at fault, and the next attempt requests only these bytes.
      let failure = DownloadFailure(.pieceMismatch, "the bytes \(changed) have changed on disk")
      fail(file, failure, .discard(changed), comparedDigest: expected)
    case .success where hadInterference:
      // The server is not at fault, and nothing tells which bytes to keep.
      let failure = PartialFile.Interference.changed.failure
      fail(file, failure, .restart(from: nil), comparedDigest: expected)
    case .success(let digest):
      failCheck(file, Self.mismatch(of: digest.digest, with: expected))
    case .failure(let failure):
      fail(file, failure.asDownloadFailure)
    }
  }

  /// Says which digest a file has, and which it should have.
  ///
  /// The digest of no bytes is seldom given as such: a Metalink document may state a size of 0.
  private static func mismatch(of digest: Digest, with expected: String) -> String {
    expected == DigestHasher(digest.algorithm).digest.text
      ? "the file is not empty, but a size of 0 bytes is required"
      : "the digest of the file is \(digest.text), but \(expected) is required"
  }

  private mutating func note(
    _ result: Result<FinishedFile, PartialFile.Failure>,
    of file: File
  ) {
    switch result {
    case .success(let finished): synced.append(finished)
    case .failure(let failure):
      // A file that was changed after its last check is dropped as a whole.
      let bytes = failure.interference == nil ? Bytes.keep : .restart(from: nil)
      fail(file, failure.asDownloadFailure, bytes)
    }
  }

  private mutating func note(_ outcome: FilePlacement.Outcome, of file: FinishedFile) {
    switch outcome {
    case .placed: renamed.append(file)
    case .placedKeeping(let version):
      var file = file
      file.kept = version
      renamed.append(file)
    case .nameTaken: nameless.append(file)
    // The bytes are gone, or in a file that this engine must not touch.
    case .replaced:
      fail(file, PartialFile.Interference.replaced.failure, .restart(from: file.identity.size))
    case .failed(let failure): fail(file, failure.asDownloadFailure)
    }
  }

  /// Fails a download whose file has the wrong digest, and drops its bytes.
  private mutating func failCheck(_ file: File, _ message: String) {
    // No single server is at fault if the bytes of several do not fit together, or if those of an
    // earlier attempt were damaged since.
    let failure =
      file.isMixed
      ? DownloadFailure(.entityChanged, "\(message); its bytes came from several responses")
      : DownloadFailure(.digestMismatch, message)
    let bytes = file.isMixed ? Bytes.restart(from: nil) : .drop
    var failed = Failed(record: file.record, failure: failure, bytes: bytes, blamesServers: true)
    failed.comparedDigest = file.expectedDigest
    ends.append(.fail(failed))
  }

  private mutating func fail(
    _ file: File,
    _ failure: DownloadFailure,
    _ bytes: Bytes = .keep,
    comparedDigest: String? = nil
  ) {
    var failed = Failed(record: file.record, failure: failure, bytes: bytes)
    failed.comparedDigest = comparedDigest
    ends.append(.fail(failed))
  }

  private mutating func fail(
    _ file: FinishedFile,
    _ failure: DownloadFailure,
    _ bytes: Bytes = .keep
  ) {
    let end = Failed(record: file.record, failure: failure, bytes: bytes, head: file.head)
    ends.append(.fail(end))
  }
}
