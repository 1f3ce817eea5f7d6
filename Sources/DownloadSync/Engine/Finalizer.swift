internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// A complete file that is about to get its final name.
struct FinishedFile: Sendable {
  var record: DownloadRecord
  var layout: FileLayout
  var entity: Transfer.Entity
  var identity: FileIdentity
  var head: ResponseHead?
  /// The digest that was compared with the expected one, if there is one.
  var verifiedDigest: String?
  /// The digests of the pieces, if there are new ones.
  var digests: PieceDigests?
  /// The digests with which the pieces were compared; `nil` if none are known.
  var pieces: PieceDigests?
  /// The previous version, which has got a numbered name; `nil` if none has.
  var kept: KeptVersion?
  /// Whether its bytes were copied from another finished file.
  var isCopy = false
  /// Whether it begins with all bytes of the file of the user that the download continues.
  var continuesFile = false
  /// The failure of a download that requires a name that another file has; `nil` otherwise.
  var nameFailure: DownloadFailure?
}

/// A transfer whose bytes have all arrived, and whose digest is correct.
struct CompleteTransfer: Sendable {
  var download: ActiveTransfer
  /// The digest that was compared with the expected one, if there is one.
  var verified: CheckedDigest?
  /// The modification time that the file is to have; `nil` to keep its own.
  var serverTime: Date?
}

/// The digest of a file, and the identity that the file had when it was read.
struct CheckedDigest: Sendable, Hashable {
  var digest: Digest
  var identity: FileIdentity
}

extension FinishedFile {
  /// The file of a logged rename, if the partial file is still the one that was checked.
  init?(ofLoggedRename record: DownloadRecord, _ layout: FileLayout) {
    guard let identity = record.fileIdentity,
      FileIdentity(ofFileAt: layout.partialPath) == identity
    else { return nil }
    // A process that was killed may have opened it for writing after it was complete.
    FileMode.publish(layout.partialPath)
    self.init(
      record: record,
      layout: layout,
      entity: Transfer.Entity(of: record),
      identity: identity
    )
  }
}

/// The file operations that give complete files their final names.
///
/// The engine commits between them, in an order that lets the next launch repair a kill at any
/// point: sync the bytes, commit `finalizing` with the file identity, rename without replacing,
/// sync the folders, commit `completed`.
struct Finalizer: Sendable {
  private let placement: FilePlacement

  init(_ placement: FilePlacement) {
    self.placement = placement
  }

  /// Syncs the bytes of a complete transfer, gives the file its time, and returns it, with the digests
  /// of the pieces since the last checkpoint.
  ///
  /// Blocks until the disk has finished. Required digests were compared before.
  func synchronize(_ complete: CompleteTransfer) throws(PartialFile.Failure) -> FinishedFile {
    let download = complete.download
    // Before the sync and the rename, so that no file has its final name and the mode of a partial
    // file.
    download.transfer.file.publish()
    let checkpoint = try Checkpoint(syncing: download.transfer)
    if let interference = checkpoint.interference {
      throw PartialFile.Failure(
        code: EBUSY,
        operation: "checking the file",
        interference: interference
      )
    }
    guard checkpoint.damaged == nil else {
      throw PartialFile.Failure(code: EBUSY, operation: "comparing the pieces")
    }
    let file = download.transfer.file
    let isTrimmed = try file.trim()
    if isTrimmed { _ = try file.synchronize() }
    guard var identity = file.fileIdentity else {
      throw PartialFile.Failure(code: EIO, operation: "examining the file")
    }
    var verified = complete.verified?.identity
    // The digest is that of the bytes before those that were cut off.
    if isTrimmed { verified?.size = identity.size }
    // The next attempt reads the file again, to which another program may go on appending.
    guard identity.size == file.written.end, verified ?? identity == identity else {
      throw PartialFile.Failure(code: EBUSY, operation: "checking \(file.path)")
    }
    // After the last comparison, and before the commit that logs the identity.
    if let time = complete.serverTime { identity = try file.setModificationTime(time) ?? identity }
    let continued = download.record.continuedPath(in: download.layout)
    return FinishedFile(
      record: download.record,
      layout: download.layout,
      entity: checkpoint.entity,
      identity: identity,
      head: download.transfer.head,
      verifiedDigest: complete.verified?.digest.text,
      digests: checkpoint.digests,
      pieces: checkpoint.pieces,
      isCopy: download.copy != nil,
      continuesFile: continued.map { FileBytes.begin(file.path, with: $0) } ?? false
    )
  }

  /// Renames a file to its final name, and never replaces a file that is not the record's.
  ///
  /// A file that another program has put in the place of the partial file, or changed after its last
  /// check, does not get the name.
  ///
  /// The previous file of a restarted download has the name until the rename, which replaces it in
  /// one step and keeps its permissions. If the download keeps previous versions, that file gets a
  /// numbered name before.
  func place(_ file: FinishedFile) -> FilePlacement.Outcome {
    switch placement.compare(file.layout.partialPath, with: file.identity) {
    case .same: break
    case .touched:
      // The next attempt reads a file again whose digest is required.
      guard file.verifiedDigest == nil else {
        let operation = "checking \(file.layout.partialPath)"
        return .failed(PartialFile.Failure(code: EBUSY, operation: operation))
      }
    case .other:
      guard FileIdentity(ofFileAt: file.layout.finalPath) == file.identity else { return .replaced }
      // The file of the user that has the name has the same bytes.
      return placement.removeCopy(file.layout.partialPath)
    case .failed(let failure): return .failed(failure)
    }
    let outcome = placement.place(file.layout.partialPath, as: file.layout.finalPath)
    guard outcome == .nameTaken, let previous = file.record.replacedFileIdentity,
      FileIdentity(ofFileAt: file.layout.finalPath) == previous
    else { return outcome }
    FileMode.publish(file.layout.partialPath, replacing: file.layout.finalPath)
    guard file.record.keepVersions != nil else {
      return placement.replace(file.layout.finalPath, with: file.layout.partialPath)
    }
    return placement.replace(previous, of: file.record, file.layout)
  }

  /// Syncs the folders of files, so that their names survive a power failure.
  ///
  /// Blocks until the disk has finished. Returns the failures by folder.
  func synchronizeFolders(of layouts: [FileLayout]) -> [StoredText: PartialFile.Failure] {
    synchronize(layouts.folders)
  }

  /// Syncs folders; otherwise as ``synchronizeFolders(of:)``.
  func synchronize(_ folders: [StoredText]) -> [StoredText: PartialFile.Failure] {
    var failures: [StoredText: PartialFile.Failure] = [:]
    for folder in folders {
      do throws(PartialFile.Failure) {
        try placement.synchronizeFolder(folder.text)
      } catch {
        failures[folder] = error
      }
    }
    return failures
  }
}

extension [FileLayout] {
  /// The folders of the files, each once, in the order of their bytes.
  ///
  /// On Linux, canonically equivalent paths are those of different folders.
  var folders: [StoredText] { Set(map { StoredText($0.folderPath) }).sorted() }
}
