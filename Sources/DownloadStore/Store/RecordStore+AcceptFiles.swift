internal import ObjectStore

/// The result of ``RecordStore/acceptFiles(withoutDigest:progress:)``.
public struct AcceptedFiles: Sendable, Hashable {
  /// A file that was accepted although nothing shows its contents.
  package struct WithoutDigest: Sendable, Hashable {
    /// The path.
    package var path: String
    /// Whether the modification time is the recorded one, by two seconds; otherwise only the size is.
    package var hasTime: Bool
  }

  /// The number of files that were accepted.
  public package(set) var acceptedCount = 0
  /// Those of the accepted files of which no digest is known.
  package var withoutDigest: [WithoutDigest] = []
  /// The paths of files without digests that were written to where they are; they were not accepted.
  ///
  /// They have the recorded inode, which a copy does not have, and another modification time.
  public package(set) var changedPaths: [String] = []
  /// The paths of files that have other contents than their downloads; they were not accepted.
  public package(set) var damagedPaths: [String] = []
  /// Those of the damaged files that a repair does not replace; see ``FileCheck/isRecognized``.
  package var unrecognizedPaths: Set<String> = []
  /// The number of files of the right size of which nothing shows that they are the downloaded ones;
  /// they were not accepted.
  public package(set) var unprovenCount = 0
  /// A sentence for each file that could not be read, with its path; it was not accepted.
  public package(set) var readFailures: [String] = []
}

extension RecordStore {
  /// Accepts finished files that were copied or moved to another disk as the downloaded ones.
  ///
  /// A finished file is recognized by its size, inode and modification time, and a copy has another
  /// inode. Each file of the recorded size with another inode or time is read and compared with the
  /// digests of its download. If they agree, the record gets the identity of the file; if they do not,
  /// the file is damaged. Without digests, as for a file of at most 1 MiB without a checksum, the
  /// caller decides, unless the file has the recorded inode: it was not copied, but written to. Files of
  /// other sizes, links and missing files are left alone.
  ///
  /// An engine may run meanwhile. After a kill, the same call continues. Durable on return.
  ///
  /// ```swift
  /// // The disk was copied with 'cp --archive'.
  /// try store.setRoot("/mnt/new/files")
  /// let files = try store.acceptFiles(withoutDigest: true)
  /// print(files.acceptedCount, "accepted,", files.damagedPaths.count, "damaged")
  /// ```
  ///
  /// - Parameters:
  ///   - withoutDigest: Whether a file without digests is accepted, and one whose modification time
  ///     differs by more than two seconds from the recorded one. Otherwise time and digest must agree.
  ///   - progress: Called with the number of files compared so far, after each.
  /// - Returns: What was accepted, and what was not.
  /// - Throws: `StoreError`; any error that `progress` throws. What was accepted before stays.
  /// - Complexity: O(n) in the completed downloads, and one read of each file with another identity.
  public func acceptFiles(
    withoutDigest: Bool,
    progress: (Int) throws -> Void = { _ in }
  ) throws -> AcceptedFiles {
    let roots = try roots()
    var result = AcceptedFiles()
    var pending = PendingIdentities()
    var comparedCount = 0
    var token: PageToken?
    repeat {
      let page = try objects.read { [token] tx in
        try tx.page(DownloadRecord.where { $0.state == .completed }, size: 1_000, after: token)
      }
      for record in page.objects {
        guard let layout = try? roots.layout(of: record),
          FileInspection.final(of: record, in: layout) == .sizeOnly
        else { continue }
        comparedCount += 1
        switch try acceptance(of: record, at: layout.finalPath, withoutDigest) {
        case .accepted(let identity): pending.add(record, identity)
        case .acceptedWithoutDigest(let identity):
          pending.add(record, identity)
          let hasTime = record.fileIdentity.map { identity.hasTime(of: $0) } ?? false
          result.withoutDigest.append(.init(path: layout.finalPath, hasTime: hasTime))
        case .changed: result.changedPaths.append(layout.finalPath)
        case .damaged(let isRecognized):
          result.damagedPaths.append(layout.finalPath)
          if !isRecognized { result.unrecognizedPaths.insert(layout.finalPath) }
        case .unproven: result.unprovenCount += 1
        case .unreadable(let message): result.readFailures.append(message)
        }
        if pending.isDue { result.acceptedCount += try commit(&pending) }
        try progress(comparedCount)
      }
      token = page.next
    } while token != nil
    result.acceptedCount += try commit(&pending)
    return result
  }

  /// What is known about a file with another identity than recorded.
  private enum Acceptance {
    case accepted(FileIdentity)
    case acceptedWithoutDigest(FileIdentity)
    case changed
    case damaged(isRecognized: Bool)
    case unproven
    case unreadable(String)
  }

  private func acceptance(
    of record: DownloadRecord,
    at path: String,
    _ withoutDigest: Bool
  ) throws -> Acceptance {
    guard let known = record.fileIdentity, let identity = FileIdentity(ofFileAt: path),
      withoutDigest || identity.hasTime(of: known)
    else { return .unproven }
    let check: FileCheck
    do {
      check = try checkFile(of: record)
    } catch let error as RecordStoreError {
      return .unreadable(error.message)
    }
    // A file that changes while it is read is another one.
    guard check.identity == identity, FileIdentity(ofFileAt: path) == identity else {
      return .unproven
    }
    switch check.finding {
    case .correct: return .accepted(identity)
    case .unknown where !withoutDigest: return .unproven
    case .unknown:
      let isCopy = identity.inode != known.inode || identity.hasTime(of: known)
      return isCopy ? .acceptedWithoutDigest(identity) : .changed
    case .damaged: return .damaged(isRecognized: check.isRecognized)
    case .missing: return .unproven
    }
  }

  /// Stores the identities of accepted files, and returns their number.
  private func commit(_ pending: inout PendingIdentities) throws -> Int {
    let files = pending.take()
    guard !files.isEmpty else { return 0 }
    let moment = now()
    return try objects.write { tx in
      var count = 0
      for (record, identity) in files {
        // The user, or an engine, may have changed the record meanwhile.
        guard var current = try tx.find(DownloadRecord.self, key: record.url),
          current.id == record.id, current.generation == record.generation,
          current.state == .completed, current.fileIdentity == record.fileIdentity
        else { continue }
        current.acceptFile(identity, at: moment)
        try tx.upsert(current)
        count += 1
      }
      return count
    }
  }
}

/// Accepted files whose identities are not stored yet.
private struct PendingIdentities {
  private var files: [(DownloadRecord, FileIdentity)] = []
  private var byteCount: Int64 = 0

  /// Whether so much was read that it should not be read again after a kill, or the commit is large.
  var isDue: Bool { files.count >= 1_000 || byteCount >= 1 << 30 }

  mutating func add(_ record: DownloadRecord, _ identity: FileIdentity) {
    files.append((record, identity))
    byteCount += min(identity.size, 1 << 30)
  }

  mutating func take() -> [(DownloadRecord, FileIdentity)] {
    defer { self = PendingIdentities() }
    return files
  }
}

extension FileIdentity {
  /// Whether the file may be a copy of the other one: it has the size and the modification time, and
  /// another inode.
  func mayBeCopy(of other: FileIdentity) -> Bool {
    inode != other.inode && size == other.size && hasTime(of: other)
  }

  /// Whether a copy of the other file could have the modification time.
  ///
  /// Archives and file systems round times, to two seconds at most.
  fileprivate func hasTime(of other: FileIdentity) -> Bool {
    let (difference, overflow) = modified.subtractingReportingOverflow(other.modified)
    return !overflow && difference.magnitude <= 2_000_000_000
  }
}
