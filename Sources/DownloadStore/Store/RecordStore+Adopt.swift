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
  /// The identity of the file when its bytes were counted.
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
    return controlPath.map { unlink($0) == 0 } ?? true
  }
}

extension RecordStore {
  /// Adds a download with bytes that another program has received.
  ///
  /// The bytes are copied and synced before the record counts them. Until then the record is paused;
  /// after a kill, the same call continues. The other program's file stays as it is. If it has the
  /// name of the finished file, that replaces it in the end. Without a control file it may be complete,
  /// and is replaced only by a file that begins with all its bytes, unless the request replaces any: until
  /// then the download has a number.
  ///
  /// - Parameters:
  ///   - request: The request; its URL is new, or has no bytes yet and no transfer.
  ///   - partial: The bytes.
  /// - Returns: The record.
  /// - Throws: As ``add(_:)``; ``RecordStoreError`` with `busy` if the download has bytes or a
  ///   transfer, or with `fileSystem`.
  package func add(
    _ request: DownloadRequest,
    adopting partial: ForeignPartial
  ) throws -> Added {
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
    let record = added.record
    guard record.state == .paused, record.received == 0 else {
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
      if !request.isPaused {
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
}
