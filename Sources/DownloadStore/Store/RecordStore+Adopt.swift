internal import ObjectStore
internal import SystemInterface

/// The bytes of a download that another program has begun.
package struct ForeignPartial: Sendable, Hashable {
  /// The path of its file.
  package var path: String
  /// The path of the file in which the other program notes the bytes; `nil` for none.
  package var controlPath: String?
  /// The size of the complete file; `nil` if the other program has not stored it.
  package var byteCount: Int64?
  /// The bytes that the file has.
  package var ranges: ByteRanges
  /// The identity of the file when its bytes were counted; `nil` if the file is missing.
  package var identity: FileIdentity?

  /// Creates a value.
  package init(path: String, byteCount: Int64?, ranges: ByteRanges) {
    self.path = path
    self.byteCount = byteCount
    self.ranges = ranges
    identity = FileIdentity(ofFileAt: path)
  }

  /// Deletes the other program's files, after the store has the bytes.
  ///
  /// A file that has changed since its bytes were counted stays, with its control file: the other
  /// program is running. The control file is deleted last: without it, the other program would take its
  /// partial file for a complete one.
  ///
  /// - Returns: Whether they are deleted.
  package func deleteFiles() -> Bool {
    guard let identity, FileIdentity(ofFileAt: path) == identity, unlink(path) == 0 else {
      return false
    }
    return deleteControlFile()
  }

  private func deleteControlFile() -> Bool { controlPath.map { unlink($0) == 0 } ?? true }

  /// Deletes the other program's files that a call has left that was killed after the store had the
  /// bytes.
  ///
  /// The file of the finished download may have the name of the other program's partial file, and stays.
  ///
  /// - Parameter record: A download that has the bytes, see ``RecordStore/hasBytes(of:_:)``.
  /// - Returns: Whether they are deleted.
  package func deleteRest(of record: DownloadRecord) -> Bool {
    let isGone = identity == nil || identity == record.fileIdentity
    return isGone ? deleteControlFile() : deleteFiles()
  }
}

extension RecordStore {
  /// Adds a download with bytes that another program has received.
  ///
  /// The bytes are copied and synced before the record counts them. Until then the record is paused, also
  /// if it was waiting; after a kill, the same call continues, and changes nothing if the record has the
  /// bytes. The other program's file stays as it is. If it has the
  /// name of the finished file, that replaces it in the end. Without a control file it may be complete,
  /// and is replaced only by a file that begins with all its bytes, unless the request replaces any: until
  /// then the download has a number.
  ///
  /// - Parameters:
  ///   - request: The request; its URL is new, or has no other bytes yet and no transfer.
  ///   - partial: The bytes.
  /// - Returns: The record.
  /// - Throws: As ``add(_:)``; ``RecordStoreError`` with `busy` if the download has other bytes or a
  ///   transfer, or with `fileSystem`.
  package func add(
    _ request: DownloadRequest,
    adopting partial: ForeignPartial
  ) throws -> Added {
    // No engine of another process may start it in the meantime.
    var paused = request
    paused.isPaused = true
    let addition = try Addition(request, acceptsHiddenFolder: acceptsHiddenFolders)
    var isContinued = false
    if let root = try roots().path(of: request.root),
      let identity = FileIdentity(
        ofFileAt: FileLayout.destination(
          root: root,
          folder: addition.folder,
          filename: addition.filename
        )
      ), identity == FileIdentity(ofFileAt: partial.path)
    {
      isContinued = partial.controlPath == nil && request.collision != .replace
      paused.collision = isContinued ? .number : .replace
    }
    let added = try addNow([paused])[0]
    let isWaiting = added.record.state == .waiting
    let record = isWaiting ? try pauseWaiting(added.record) : added.record
    guard record.state == .paused, record.received == 0 else {
      if try hasBytes(of: partial, record) { return try addNow([request])[0] }
      throw RecordStoreError(
        .busy,
        "'\(Redaction.url(request.url))' is a known download, which has begun"
      )
    }
    let layout = try roots().layout(of: record)
    try FolderOwner.makeFolder(layout.folderPath)
    try PartialCopy.make(layout.partialPath, from: partial.path, copying: partial.ranges)
    let file = FileIdentity(ofFileAt: layout.partialPath)
    let moment = now()
    let adopted = try objects.write { tx -> DownloadRecord? in
      guard var current = try tx.find(DownloadRecord.self, key: record.url), current == record
      else { return nil }
      current.adoptBytes(
        partial.ranges,
        of: partial.byteCount,
        file: file,
        at: moment
      )
      if isContinued, let theirs = partial.identity {
        var continuing = current
        continuing.replaceFile(theirs)
        if continuing.continuedPath(in: layout) != nil { current = continuing }
      }
      if isWaiting || !request.isPaused {
        try current.apply(.command(.resume(immediately: false)), at: moment)
      }
      try tx.upsert(current)
      return current
    }
    guard let adopted else {
      throw RecordStoreError(
        .busy,
        "'\(Redaction.url(request.url))' was changed by another process at the same time"
      )
    }
    return Added(record: adopted, isNew: added.isNew)
  }

  /// Pauses a known download that waits and has no bytes; returns its current record.
  private func pauseWaiting(_ record: DownloadRecord) throws -> DownloadRecord {
    try objects.write { tx in
      guard var current = try tx.find(DownloadRecord.self, key: record.url),
        current.state == .waiting, current.received == 0
      else { return record }
      try current.apply(.command(.pause), at: now())
      try tx.upsert(current)
      return current
    }
  }

  /// Whether a download has the bytes of another program's file, because an earlier call has copied them.
  ///
  /// Reads both files, unless the other one is missing, because that call has deleted it, or is the
  /// finished file of the download, which has replaced it.
  ///
  /// - Parameters:
  ///   - partial: The other program's file.
  ///   - record: The download.
  /// - Returns: Whether the record counts the bytes, and the files have the same ones.
  /// - Throws: ``RecordStoreError`` with `missingRoot`; `StoreError`.
  package func hasBytes(of partial: ForeignPartial, _ record: DownloadRecord) throws -> Bool {
    // The others were not counted.
    let ranges = ByteRanges(partial.ranges.ranges.prefix(ByteRanges.storedLimit))
    let committed = record.committed
    guard ranges.ranges.allSatisfy({ committed.contains($0) }) else { return false }
    guard let theirs = partial.identity, theirs != record.fileIdentity else {
      return record.expected == partial.byteCount
    }
    let layout = try roots().layout(of: record)
    let ours = record.state == .completed ? layout.finalPath : layout.partialPath
    return theirs != FileIdentity(ofFileAt: ours)
      && FileBytes.areEqual(ours, partial.path, in: ranges)
  }
}
