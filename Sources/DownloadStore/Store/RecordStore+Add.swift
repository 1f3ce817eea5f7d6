internal import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension RecordStore {
  /// The record of a request.
  ///
  /// ```swift
  /// for added in try await store.add(requests) {
  ///   print(added.record.id, added.isNew ? "added" : "known, now \(added.record.state)")
  /// }
  /// ```
  public struct Added: Sendable, Hashable {
    /// The current record.
    public var record: DownloadRecord
    /// Whether the download was new.
    public var isNew: Bool
    /// What the request did not do, or did besides.
    package var note: Note?
    /// What the request did to a known download; `nil` for a new one.
    package var change: Change?
    /// The number of mirrors of the request that the download does not have, because it has as many
    /// as it may have.
    package var unkeptMirrorCount = 0

    /// The changes of a known download.
    package struct Change: Sendable, Hashable {
      /// The state before the request.
      package var previousState: DownloadState
      /// The properties that the request has changed.
      package var properties: [Property]
      /// Whether the request has header fields for another server than that of the download's.
      package var hasUnkeptHeaders: Bool

      /// A property that a request may change, by the name for people.
      package enum Property: String, Sendable, Hashable, CaseIterable {
        case tags, type, priority, mirrors, checksum, connections
        case headers = "header fields"
        case rateLimit = "rate limit"
        case notBefore = "earliest start"
        case refreshEvery = "refresh period"
        case keepVersions = "kept versions"
      }
    }

    /// A remark about a known download.
    package enum Note: Sendable, Hashable {
      /// The digest and the mirrors of a document were ignored.
      case documentIgnored
      /// The request is a paused one, and the download keeps its state.
      case pauseIgnored
      /// The finished file is not the one that the request requires, or was changed, and is
      /// downloaded again.
      case fileDiffers
      /// The same, but the file was not downloaded by the record, or was changed since, so it stays
      /// and the new one gets another name.
      case fileStays
      /// The folder of the finished file is missing or cannot be searched: the file may exist, and is
      /// not downloaded again.
      case folderUnreachable
    }
  }

  /// Adds downloads, all of them or none.
  ///
  /// The key identifies a download, or the URL without one; either may be the URL or a key of it. A known
  /// URL keeps its record and its bytes, and resumes if it was paused or had failed. A cancelled download
  /// restarts. A completed download is unchanged while its file exists, or while the
  /// folder of the file is missing, because its volume may not be mounted. It restarts
  /// if the file is missing, was changed, or does not have the requested digest; to find that out, the
  /// file is read if the digest was not computed before, or if the file was changed. Of the request, a
  /// known download takes the type, the tags, the priority, the mirrors, the digest, the header fields,
  /// the limits, the earliest start and the key; it keeps its name, its folder and its root.
  ///
  /// A new record reserves its file name in the same transaction. If another record or a file has the
  /// name, ``DownloadRequest/collision`` decides.
  ///
  /// Works with and without an engine; the running one, in this or another process, starts the
  /// downloads. The transaction runs on a background thread, and is durable on return. To wait for
  /// the file, use `DownloadEngine.download(_:)` instead.
  ///
  /// ```swift
  /// try await store.add([DownloadRequest(url: "https://example.com/archive.zip")])
  /// ```
  ///
  /// - Parameter requests: The requests.
  /// - Returns: The records, in the order of the requests.
  /// - Throws: ``RecordStoreError`` with `invalidURL`, `invalidHeader`, `invalidTag` or
  ///   `invalidKey`; with `keyTaken`
  ///   for another digest than that of the download with the key; with `urlTaken` if each URL of a new
  ///   key without a digest is that of a download with another key or digest; with `invalidRecord` for a
  ///   rate, a number of connections or a date that is out of range; with `busy` for a digest
  ///   while the finished file is being renamed; with `fileSystem` if a file cannot be read; with `invalidName` for a folder that leads
  ///   out of its root and for an empty name or type; with `nameTaken` or `invalidDigest`,
  ///   depending on ``DownloadRequest/collision``; `StoreError`.
  /// - Complexity: O(k log n) for k requests and n records. Uses memory for the requests and their
  ///   records; add a long list in batches of some thousand.
  @discardableResult
  public func add(_ requests: [DownloadRequest]) async throws -> [Added] {
    try await inBackground { [self] in try addNow(requests) }
  }

  /// Adds downloads as ``add(_:)`` does, on the calling thread.
  @discardableResult
  package func addNow(_ requests: [DownloadRequest]) throws -> [Added] {
    let additions = try requests.map { try Addition($0, acceptsHiddenFolder: acceptsHiddenFolders) }
    let roots = try roots()
    var files = FinishedFileDigests()
    while true {
      do {
        return try objects.write { [files] tx in
          var batch = AdditionBatch(self, roots, files)
          return try batch.run(additions, in: &tx)
        }
      } catch let missing as FinishedFileDigests.Missing {
        // Outside of the transaction, because a large file takes minutes.
        for file in missing.files { try files.read(file) }
      }
    }
  }
}
