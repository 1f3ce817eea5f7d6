internal import ObjectStore
internal import SystemInterface

/// The additions of one transaction.
///
/// It decides on every request before it writes the first record: a read after a write would store
/// the deferred index entries of that write, with one page access for each.
struct AdditionBatch {
  /// A record of the batch.
  private struct Entry {
    var record: DownloadRecord
    /// Whether the store has the record.
    let isStored: Bool
    /// Whether a request has changed the record of the store.
    var isChanged = false
  }

  private typealias Note = RecordStore.Added.Note
  private typealias Change = RecordStore.Added.Change

  private let store: RecordStore
  private let roots: Roots
  private let files: FinishedFileDigests
  /// The files that must be read before the batch can be decided.
  private var missingFiles: [FinishedFileDigests.File] = []
  private var entries: [Entry] = []
  private var headers: [RequestHeaders] = []
  private var pieces: [PieceDigests] = []
  /// The position in `entries` of each URL.
  private var positions: [StoredText: Int] = [:]
  /// The ids of entries, and the wanted ids that records of the store have.
  private var ids: Set<String> = []
  /// The destinations of new entries, and the wanted ones that records of the store have.
  private var destinations: Set<StoredText> = []
  /// The wanted destinations, which have been looked up in the store.
  private var examined: Set<StoredText> = []
  /// The failed downloads without a byte that have wanted destinations; see ``releaseName(_:in:)``.
  private var yielding: [StoredText: DownloadRecord] = [:]
  /// The last number that was given to each wanted destination.
  private var numbers: [StoredText: Int] = [:]

  init(_ store: RecordStore, _ roots: Roots, _ files: FinishedFileDigests) {
    self.store = store
    self.roots = roots
    self.files = files
  }

  /// Applies the requests in the given order.
  ///
  /// - Precondition: The transaction has no changes.
  /// - Throws: ``FinishedFileDigests/Missing`` if files must be read first.
  mutating func run(
    _ given: [Addition],
    in tx: inout StoreTransaction
  ) throws -> [RecordStore.Added] {
    var keys = try KeyedAdditions(given, in: tx)
    let additions = try given.map { try keys.resolved($0, in: tx) }
    try lookUp(additions, in: tx)
    let places = try additions.map { addition -> (Int, change: Change?, note: Note?) in
      if let position = positions[StoredText(addition.request.url)] {
        let known = entries[position].record
        let (record, note) = try proceed(with: known, addition)
        if record != known {
          entries[position].record = record
          entries[position].isChanged = true
        }
        return (position, change: Change(of: known, to: record, addition), note: note)
      }
      let record = try create(addition, in: tx)
      append(Entry(record: record, isStored: false))
      return (entries.count - 1, change: nil, note: nil)
    }
    guard missingFiles.isEmpty else { throw FinishedFileDigests.Missing(files: missingFiles) }
    try write(in: &tx)
    return zip(additions, places).map { addition, result in
      let record = entries[result.0].record
      return RecordStore.Added(
        record: record,
        isNew: result.change == nil,
        note: result.note,
        change: result.change,
        unkeptMirrorCount: result.note == .documentIgnored
          ? 0 : Self.unkeptMirrorCount(of: addition.request, in: record)
      )
    }
  }

  private static func unkeptMirrorCount(
    of request: DownloadRequest,
    in record: DownloadRecord
  ) -> Int {
    guard !request.mirrors.isEmpty, record.mirrors.count >= RecordLimits.mirrors else { return 0 }
    let kept = Set(([record.url] + record.mirrors).map(StoredText.init))
    return Set(request.mirrors.map(StoredText.init)).subtracting(kept).count
  }

  /// Finds the records of known URLs, and the wanted ids and destinations that are taken.
  private mutating func lookUp(
    _ additions: [Addition],
    in tx: borrowing StoreTransaction
  ) throws {
    let known = try tx.find(DownloadRecord.self, keys: additions.map(\.request.url))
    reserveCapacity(additions.count)
    var newIDs = Set<String>(minimumCapacity: additions.count)
    for (addition, record) in zip(additions, known) {
      if let record {
        guard positions[StoredText(record.url)] == nil else { continue }
        positions[StoredText(record.url)] = entries.count
        entries.append(Entry(record: record, isStored: true))
      } else {
        newIDs.insert(addition.id)
        examined.insert(StoredText(addition.destination))
      }
    }
    guard !newIDs.isEmpty else { return }
    try tx.forEach(DownloadRecord.where { $0.id.isIn(newIDs) }) { record in
      ids.insert(record.id)
      return true
    }
    try tx.forEach(DownloadRecord.where { $0.destination.isIn(examined.map(\.text)) }) { record in
      destinations.insert(StoredText(record.destination))
      if record.yieldsName { yielding[StoredText(record.destination)] = record }
      return true
    }
  }

  private mutating func reserveCapacity(_ count: Int) {
    entries.reserveCapacity(count)
    positions.reserveCapacity(count)
    ids.reserveCapacity(count)
    destinations.reserveCapacity(count)
    examined.reserveCapacity(count)
  }

  private mutating func append(_ entry: Entry) {
    positions[StoredText(entry.record.url)] = entries.count
    ids.insert(entry.record.id)
    destinations.insert(StoredText(entry.record.destination))
    entries.append(entry)
  }

  /// Writes the new and the changed records.
  private mutating func write(in tx: inout StoreTransaction) throws {
    try tx.upsert(contentsOf: pieces)
    for index in entries.indices where entries[index].isStored && entries[index].isChanged {
      try tx.restoreRequiredSize(of: &entries[index].record)
    }
    try tx.insert(contentsOf: entries.lazy.filter { !$0.isStored }.map(\.record))
    try tx.upsert(
      contentsOf: entries.lazy.filter { $0.isStored && $0.isChanged }.map(\.record)
    )
    try tx.upsert(contentsOf: headers)
  }

  // MARK: New records

  private mutating func create(
    _ addition: Addition,
    in tx: borrowing StoreTransaction
  ) throws -> DownloadRecord {
    let request = addition.request
    let moment = store.now()
    var record = DownloadRecord(
      url: request.url,
      id: try freeID(for: addition, in: tx),
      filename: addition.filename,
      folder: addition.folder,
      root: request.root,
      destination: addition.destination,
      type: request.type ?? RecordStore.type(ofFileNamed: addition.filename),
      state: request.isPaused ? .paused : .waiting,
      intent: request.isPaused ? .pause : .run,
      tags: request.tags,
      priority: request.priority ?? 0,
      received: 0,
      expected: nil,
      entityTag: nil,
      lastModified: nil,
      resumeData: nil,
      mirrors: Array(request.mirrors.prefix(RecordLimits.mirrors)),
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
      isNameGiven: request.filename != nil,
      allowsCellular: request.allowsCellular,
      prefersBackground: request.prefersBackground,
      bytesPerSecond: request.bytesPerSecond,
      notBefore: request.notBefore,
      connections: request.connections,
      keys: Set([request.key].compactMap { $0 }),
      requiresName: request.collision == .fail,
      refreshEvery: request.refreshEvery?.components.seconds,
      keepVersions: request.keepVersions
    )
    try chooseName(for: &record, request, in: tx)
    if record.hasHeaders { addHeaders(of: addition, to: record) }
    try addPieces(of: request, to: &record)
    return record
  }

  /// Describes the holder of a name that is taken.
  private static func holder(of path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0 else { return "a download or a file" }
    return switch status.st_mode & S_IFMT {
    case S_IFLNK: "a symbolic link"
    case S_IFDIR: "a folder"
    default: "a download or a file"
    }
  }

  /// Gives a new record its name, or applies the request's choice if the name is taken.
  private mutating func chooseName(
    for record: inout DownloadRecord,
    _ request: DownloadRequest,
    in tx: borrowing StoreTransaction
  ) throws {
    let wanted = StoredText(record.destination)
    let number = numbers[wanted]
    let isNumbered = request.collision == .number
    if number == nil { try releaseName(wanted, in: tx) }
    if number == nil, try isFree(record, treatingUnknownAsFree: isNumbered, in: tx) { return }
    guard !isNumbered else {
      numbers[wanted] = try store.number(&record, after: number ?? 1) { [self] in
        try isFree($0, treatingUnknownAsFree: true, in: tx)
      }
      return
    }
    let path = try roots.finalPath(of: record)
    if case .failed = PathExamination(path) {
      throw RecordStoreError(
        .fileSystem,
        "'\(path)' cannot be examined: \(systemErrorText())"
      )
    }
    guard try !store.hasStorePath(record, roots) else {
      throw RecordStoreError(.nameTaken, "'\(path)' is a file of the store itself")
    }
    guard request.collision != .fail, let fileIdentity = FileIdentity(ofFileAt: path),
      try !isReserved(record, in: tx)
    else {
      throw RecordStoreError(
        .nameTaken,
        "'\(path)' is already taken by \(Self.holder(of: path))"
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
    try record.apply(.fileAdopted(fileIdentity), at: record.createdAt)
  }

  /// Gives another number to the failed download that has a wanted name, if there is one.
  ///
  /// A mistyped URL would keep the name from the right one. Nothing depends on the name: the download
  /// has no byte, and its partial file is named after its id. A download whose URL is added again in
  /// this batch keeps its name.
  private mutating func releaseName(
    _ wanted: StoredText,
    in tx: borrowing StoreTransaction
  ) throws {
    guard var failed = yielding.removeValue(forKey: wanted),
      positions[StoredText(failed.url)] == nil, try !store.isOccupied(failed, roots)
    else { return }
    _ = try store.number(&failed, after: 1) { [self] in
      try isFree($0, treatingUnknownAsFree: true, in: tx)
    }
    failed.updatedAt = store.now()
    destinations.remove(wanted)
    positions[StoredText(failed.url)] = entries.count
    destinations.insert(StoredText(failed.destination))
    entries.append(Entry(record: failed, isStored: true, isChanged: true))
  }

  /// Whether no file, no record of the store and no entry has the record's destination.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - unknown: Whether a path that cannot be examined counts as free.
  ///   - tx: The transaction of the batch.
  /// - Returns: Whether the destination is free.
  /// - Throws: ``RecordStoreError`` with `missingRoot`; `StoreError`.
  private func isFree(
    _ record: DownloadRecord,
    treatingUnknownAsFree unknown: Bool,
    in tx: borrowing StoreTransaction
  ) throws -> Bool {
    let isFree =
      unknown ? try !store.isOccupied(record, roots) : try store.isFileMissing(of: record, roots)
    return try isFree && !isReserved(record, in: tx)
  }

  private func isReserved(
    _ record: DownloadRecord,
    in tx: borrowing StoreTransaction
  ) throws -> Bool {
    let destination = StoredText(record.destination)
    if destinations.contains(destination) { return true }
    // Of the two destinations in the folder of 'get -o -', only one was looked up.
    let isExamined = examined.contains(destination) && !RootName.isOfOutput(record.root)
    return try !isExamined && store.isReserved(record, in: tx)
  }

  /// The id of a new record: the wanted one, or else one derived from its URL, unless another record
  /// has that id.
  private func freeID(
    for addition: Addition,
    in tx: borrowing StoreTransaction
  ) throws -> String {
    guard ids.contains(addition.id) else { return addition.id }
    let url = addition.request.url
    var round = addition.request.id == nil ? 2 : 1
    while true {
      let id = RecordIdentity.id(forURL: url, round: round)
      if try !ids.contains(id) && !tx.exists(DownloadRecord.where { $0.id == id }) { return id }
      round += 1
    }
  }

  private mutating func addHeaders(of addition: Addition, to record: DownloadRecord) {
    headers.append(
      RequestHeaders(
        recordID: record.id,
        fields: addition.request.headers,
        givenFor: addition.givenURL
      )
    )
  }

  private mutating func addPieces(
    of request: DownloadRequest,
    to record: inout DownloadRecord
  ) throws(RecordStoreError) {
    let size = request.byteCount.map { RequiredPieces(byteCount: $0, pieceLength: $0, digests: []) }
    guard let required = request.pieces ?? size, record.received == 0, record.state != .completed
    else { return }
    guard let digests = PieceDigests(requiring: required, recordID: record.id) else {
      throw RecordStoreError(
        .invalidDigest,
        "\(required.digests.count) digests are not those of the pieces of \(required.byteCount) bytes"
      )
    }
    record.hasPieceDigests = true
    record.requireSize(required.byteCount)
    pieces.append(digests)
  }

  // MARK: Known records

  /// Applies a request to the record of its URL.
  private mutating func proceed(
    with known: DownloadRecord,
    _ addition: Addition
  ) throws -> (DownloadRecord, Note?) {
    var record = known
    var (request, note) = Self.trusted(addition.request, for: known)
    try known.requireNoOtherDigest(request.digest, gettingKey: request.key)
    record.tags.formUnion(request.tags)
    if let key = request.key { record.keys.insert(key) }
    let mirrors = Set(known.mirrors.map(StoredText.init))
    let new = request.mirrors.filter { !mirrors.contains(StoredText($0)) }
    if request.key == nil {
      record.mirrors += new.prefix(max(0, RecordLimits.mirrors - known.mirrors.count))
    } else if !new.isEmpty {
      // The URLs that were given last: those of before may have expired.
      record.mirrors = Array((new + known.mirrors).prefix(RecordLimits.mirrors))
    }
    if addition.givesHeaders(to: known) {
      record.hasHeaders = true
      addHeaders(of: addition, to: record)
    }
    try addPieces(of: request, to: &record)
    if let type = request.type { record.type = type }
    if let priority = request.priority { record.priority = priority }
    if request.removesRateLimit { record.bytesPerSecond = nil }
    if let bytesPerSecond = request.bytesPerSecond { record.bytesPerSecond = bytesPerSecond }
    if let connections = request.connections { record.connections = connections }
    if let notBefore = request.notBefore { record.postpone(until: notBefore) }
    if let count = request.keepVersions { record.keepVersions = count }
    if let period = request.refreshEvery { record.refresh(every: period.components.seconds) }
    if record.state == .completed {
      if !request.isPaused { note = try proceed(withCompleted: &record, request.digest) ?? note }
    } else {
      if let digest = request.digest {
        guard record.state != .finalizing || record.verifiedDigest == digest.text else {
          throw RecordStoreError(
            .busy,
            "'\(record.filename)' is being renamed: try again in a moment"
          )
        }
        record.expectedDigest = digest.text
        // The finished file of a refresh need not have this digest, so it is no way back.
        if let refreshed = record.refreshed, digest.text != known.expectedDigest,
          refreshed.verifiedDigest != digest.text
        {
          record.forgetEarlierVersion()
        }
      }
      if !request.isPaused { try record.apply(.addedAgain, at: store.now()) }
    }
    if request.isPaused, record.state != .paused, record.state != .completed {
      note = note ?? .pauseIgnored
    }
    if record.root == RootName.temporary, request.root != RootName.temporary {
      record.keepOutput()
    }
    if record != known { record.updatedAt = store.now() }
    return (record, note)
  }

  /// The request without what a document must not change: it comes from elsewhere, and the user may
  /// have given the digest of the known download.
  private static func trusted(
    _ given: DownloadRequest,
    for known: DownloadRecord
  ) -> (DownloadRequest, Note?) {
    let digest = given.digest?.text
    guard given.isFromDocument, digest == nil || digest != known.expectedDigest else {
      return (given, nil)
    }
    var request = given
    request.mirrors = []
    request.digest = nil
    request.pieces = nil
    request.byteCount = nil
    let mirrors = Set(known.mirrors.map(StoredText.init))
    let isSame = digest == nil && given.mirrors.allSatisfy { mirrors.contains(StoredText($0)) }
    return (request, isSame ? nil : .documentIgnored)
  }

  /// Applies a request to a completed download, whose file may have been deleted or changed, or not be
  /// the one with the requested digest.
  private mutating func proceed(
    withCompleted record: inout DownloadRecord,
    _ digest: Digest?
  ) throws -> Note? {
    let path = try roots.finalPath(of: record)
    let identity: FileIdentity
    switch PathExamination(path) {
    case .file(let found, _): identity = found
    // It may exist: nothing is known that would be a reason to download it again.
    case .failed: return .folderUnreachable
    case .missing where try roots.layout(of: record).folderProblem != nil: return .folderUnreachable
    case .missing, .other:
      try record.apply(.fileRejected(requiring: digest), at: store.now())
      return nil
    }
    let isOurs =
      record.fileIdentity.map { $0 == identity } ?? (identity.size == record.received)
    if isOurs, digest == nil || digest?.text == record.verifiedDigest {
      if let digest { record.expectedDigest = digest.text }
      return nil
    }
    let last = (record.verifiedDigest ?? record.expectedDigest).flatMap { try? Digest($0) }
    guard let required = digest ?? last else {
      try record.apply(.fileRejected(requiring: nil), at: store.now())
      return record.replacedFileIdentity == identity ? .fileDiffers : .fileStays
    }
    let file = FinishedFileDigests.File(
      path: path,
      identity: identity,
      algorithm: required.algorithm
    )
    guard let found = files[file] else {
      missingFiles.append(file)
      return nil
    }
    guard found == required else {
      try record.apply(.fileRejected(requiring: digest), at: store.now())
      return record.replacedFileIdentity == identity ? .fileDiffers : .fileStays
    }
    if let digest { record.expectedDigest = digest.text }
    record.confirmFile(identity, required)
    return nil
  }
}

extension RecordStore.Added.Change {
  /// Compares a known record with the one that a request has made of it.
  fileprivate init(
    of known: DownloadRecord,
    to record: DownloadRecord,
    _ addition: Addition
  ) {
    previousState = known.state
    hasUnkeptHeaders = !addition.request.headers.isEmpty && !addition.givesHeaders(to: known)
    properties = Property.allCases.filter { property in
      switch property {
      case .tags: record.tags != known.tags
      case .type: record.type != known.type
      case .priority: record.priority != known.priority
      case .mirrors: record.mirrors != known.mirrors
      case .checksum: record.expectedDigest != known.expectedDigest
      case .headers: addition.givesHeaders(to: known)
      case .rateLimit: record.bytesPerSecond != known.bytesPerSecond
      case .connections: record.connections != known.connections
      case .notBefore: record.notBefore != known.notBefore
      case .keepVersions: record.keepVersions != known.keepVersions
      case .refreshEvery: record.refreshEvery != known.refreshEvery
      }
    }
  }
}

extension DownloadRecord {
  /// Moves a download of `get -o -` to the root whose files that command does not remove.
  ///
  /// Both roots have the same folder, so an engine may run the download. No other download of either root
  /// has its name; see `FileLayout.exclusiveDestinations(root:folder:filename:)`.
  fileprivate mutating func keepOutput() {
    root = RootName.keptOutput
    setFilename(filename)
  }

  /// Whether a new download may take the file name: the user did not choose it, the download has
  /// failed permanently, and it has no byte and no file.
  fileprivate var yieldsName: Bool {
    state == .failedPermanent && intent == .run && received == 0 && !isNameGiven
      && resumeData == nil && fileIdentity == nil && replacedFileIdentity == nil
  }
}
