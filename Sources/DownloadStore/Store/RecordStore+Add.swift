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
    /// Whether the URL was new.
    public var isNew: Bool
  }

  /// Adds downloads, all of them or none.
  ///
  /// A known URL keeps its record and its bytes, and resumes if it was paused or had failed. A
  /// cancelled download restarts. A completed download is unchanged while its file exists, and
  /// restarts if the file is missing. A new record reserves its file name in the same transaction.
  /// If another record or a file has the name, ``DownloadRequest/collision`` decides.
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
  /// - Throws: ``RecordStoreError`` with `invalidURL`; with `invalidName` for a folder that leads
  ///   out of its root and for an empty name or type; with `nameTaken` or `invalidDigest`,
  ///   depending on ``DownloadRequest/collision``; ``StoreError``.
  /// - Complexity: O(k log n) for k requests and n records.
  @discardableResult
  public func add(_ requests: [DownloadRequest]) async throws -> [Added] {
    try await inBackground { [self] in try addNow(requests) }
  }

  /// Adds downloads as ``add(_:)`` does, on the calling thread.
  @discardableResult
  package func addNow(_ requests: [DownloadRequest]) throws -> [Added] {
    for request in requests {
      try RecordIdentity.validate(request.url)
      for mirror in request.mirrors { try RecordIdentity.validate(mirror) }
      _ = try FileLayout.validatedFolder(request.folder)
      guard request.filename?.isEmpty != true, request.type?.isEmpty != true else {
        throw RecordStoreError(
          .invalidName,
          "'\(Redaction.url(request.url))' cannot be added with an empty file name or type"
        )
      }
    }
    let roots = try roots()
    return try objects.write { tx in
      try requests.map { request in
        if let known = try tx.find(DownloadRecord.self, key: request.url) {
          return Added(record: try proceed(known, request, roots, in: &tx), isNew: false)
        }
        return Added(record: try create(request, roots, in: &tx), isNew: true)
      }
    }
  }

  private func create(
    _ request: DownloadRequest,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws -> DownloadRecord {
    let moment = now()
    let name = request.filename.map { SafeFilename.sanitized($0) }
    let wanted = name ?? SafeFilename.suggested(byURL: request.url)
    var record = DownloadRecord(
      url: request.url,
      id: try freeID(for: request, in: tx),
      filename: wanted,
      folder: try FileLayout.validatedFolder(request.folder),
      root: request.root,
      destination: "",
      type: request.type ?? Self.type(ofFileNamed: wanted),
      state: request.isPaused ? .paused : .waiting,
      intent: request.isPaused ? .pause : .run,
      tags: request.tags,
      priority: request.priority,
      received: 0,
      expected: nil,
      entityTag: nil,
      lastModified: nil,
      resumeData: nil,
      mirrors: request.mirrors,
      expectedDigest: request.digest?.text,
      verifiedDigest: nil,
      nextRetryAt: nil,
      // Greater than that of any earlier record, so that late events of a purged record's transfer
      // are not applied to the new one.
      generation: Int64(clamping: tx.commitNumber),
      createdAt: moment,
      updatedAt: moment,
      completedAt: nil,
      hasHeaders: !request.headers.isEmpty,
      fileIdentity: nil,
      isNameGiven: name != nil,
      allowsCellular: request.allowsCellular,
      prefersBackground: request.prefersBackground,
      bytesPerSecond: request.bytesPerSecond,
      notBefore: request.notBefore
    )
    try take(wanted, for: &record, request, roots, in: &tx)
    try tx.insert(record)
    if record.hasHeaders {
      try tx.upsert(
        RequestHeaders(recordID: record.id, fields: request.headers, givenFor: record.url)
      )
    }
    return record
  }

  /// Gives a new record its name, or applies the request's choice if the name is taken.
  private func take(
    _ wanted: String,
    for record: inout DownloadRecord,
    _ request: DownloadRequest,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws {
    guard try !take(wanted, for: &record, roots, in: &tx) else { return }
    guard request.collision != .number else {
      return try reserveName(for: &record, roots, in: &tx)
    }
    let path = try roots.layout(of: record).finalPath
    guard request.collision != .fail, let fileIdentity = FileIdentity(ofFileAt: path),
      try !isReserved(record, in: tx)
    else {
      throw RecordStoreError(
        .nameTaken,
        "the file name '\(wanted)' is already taken by a download or a file"
      )
    }
    guard request.collision == .keep else {
      record.replaceFile(fileIdentity)
      return
    }
    guard request.digest == nil else {
      throw RecordStoreError(
        .invalidDigest,
        "'\(path)' cannot be adopted with a checksum, because adopting it does not read it"
      )
    }
    record.adoptFile(fileIdentity, at: record.createdAt)
  }

  /// The id of a new record: the requested one, or else the one derived from its URL, unless another
  /// record has that id.
  private func freeID(
    for request: DownloadRequest,
    in tx: borrowing StoreTransaction
  ) throws -> String {
    var id = request.id ?? RecordIdentity.id(forURL: request.url)
    var round = request.id == nil ? 1 : 0
    while try tx.exists(DownloadRecord.where { $0.id == id }) {
      round += 1
      id = RecordIdentity.id(forURL: request.url, round: round)
    }
    return id
  }

  /// Applies a request to an existing record.
  private func proceed(
    _ known: DownloadRecord,
    _ request: DownloadRequest,
    _ roots: Roots,
    in tx: inout StoreTransaction
  ) throws -> DownloadRecord {
    var record = known
    record.tags.formUnion(request.tags)
    record.mirrors += request.mirrors.filter { !known.mirrors.contains($0) }
    if !request.headers.isEmpty {
      record.hasHeaders = true
      try tx.upsert(
        RequestHeaders(recordID: record.id, fields: request.headers, givenFor: record.url)
      )
    }
    if let digest = request.digest { record.expectedDigest = digest.text }
    if let bytesPerSecond = request.bytesPerSecond { record.bytesPerSecond = bytesPerSecond }
    if let notBefore = request.notBefore { record.postpone(until: notBefore) }
    if !request.isPaused {
      let isFileMissing =
        try record.state == .completed
        && FileInspection(of: record, in: roots.layout(of: record)).final == .missing
      record.addAgain(isFileMissing: isFileMissing)
    }
    if record != known {
      record.updatedAt = now()
      try tx.upsert(record)
    }
    return record
  }
}
