internal import ObjectStore

/// A valid request with the properties that a new record of its URL would have.
struct Addition: Sendable {
  let request: DownloadRequest
  /// The normalized folder.
  let folder: String
  /// The wanted file name.
  let filename: String
  /// The wanted id.
  let id: String

  /// Validates a request.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidURL` or `invalidName`.
  init(_ request: DownloadRequest) throws {
    try RecordIdentity.validate(request.url)
    for mirror in request.mirrors { try RecordIdentity.validate(mirror) }
    folder = try FileLayout.validatedFolder(request.folder)
    guard request.filename?.isEmpty != true, request.type?.isEmpty != true else {
      throw RecordStoreError(
        .invalidName,
        "'\(Redaction.url(request.url))' cannot be added with an empty file name or type"
      )
    }
    filename =
      request.filename.map { SafeFilename.sanitized($0) }
      ?? SafeFilename.suggested(byURL: request.url)
    id = request.id ?? RecordIdentity.id(forURL: request.url)
    self.request = request
  }

  /// The destination with the wanted file name.
  var destination: String {
    FileLayout.destination(root: request.root, folder: folder, filename: filename)
  }
}

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

  private let store: RecordStore
  private let roots: Roots
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
  /// The last number that was given to each wanted destination.
  private var numbers: [StoredText: Int] = [:]

  init(_ store: RecordStore, _ roots: Roots) {
    self.store = store
    self.roots = roots
  }

  /// Applies the requests in the given order.
  ///
  /// - Precondition: The transaction has no changes.
  mutating func run(
    _ additions: [Addition],
    in tx: inout StoreTransaction
  ) throws -> [RecordStore.Added] {
    try lookUp(additions, in: tx)
    let places = try additions.map { addition in
      if let position = positions[StoredText(addition.request.url)] {
        let known = entries[position].record
        let record = try proceed(with: known, addition.request)
        if record != known {
          entries[position].record = record
          entries[position].isChanged = true
        }
        return (position, isNew: false)
      }
      let record = try create(addition, in: tx)
      append(Entry(record: record, isStored: false))
      return (entries.count - 1, isNew: true)
    }
    try write(in: &tx)
    return places.map { RecordStore.Added(record: entries[$0].record, isNew: $1) }
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
  private func write(in tx: inout StoreTransaction) throws {
    try tx.insert(contentsOf: entries.lazy.filter { !$0.isStored }.map(\.record))
    try tx.upsert(
      contentsOf: entries.lazy.filter { $0.isStored && $0.isChanged }.map(\.record)
    )
    try tx.upsert(contentsOf: headers)
    try tx.upsert(contentsOf: pieces)
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
      isNameGiven: request.filename != nil,
      allowsCellular: request.allowsCellular,
      prefersBackground: request.prefersBackground,
      bytesPerSecond: request.bytesPerSecond,
      notBefore: request.notBefore,
      connections: request.connections
    )
    try chooseName(for: &record, request, in: tx)
    if record.hasHeaders { addHeaders(of: request, to: record) }
    try addPieces(of: request, to: &record)
    return record
  }

  /// Gives a new record its name, or applies the request's choice if the name is taken.
  private mutating func chooseName(
    for record: inout DownloadRecord,
    _ request: DownloadRequest,
    in tx: borrowing StoreTransaction
  ) throws {
    let wanted = StoredText(record.destination)
    let number = numbers[wanted]
    if number == nil, try isFree(record, in: tx) { return }
    guard request.collision != .number else {
      numbers[wanted] = try store.number(&record, after: number ?? 1) { [self] in
        try isFree($0, in: tx)
      }
      return
    }
    let path = try roots.finalPath(of: record)
    guard request.collision != .fail, let fileIdentity = FileIdentity(ofFileAt: path),
      try !isReserved(record, in: tx)
    else {
      throw RecordStoreError(
        .nameTaken,
        "the file name '\(record.filename)' is already taken by a download or a file"
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

  /// Whether no file, no record of the store and no entry has the record's destination.
  private func isFree(
    _ record: DownloadRecord,
    in tx: borrowing StoreTransaction
  ) throws -> Bool {
    try store.isFileMissing(of: record, roots) && !isReserved(record, in: tx)
  }

  private func isReserved(
    _ record: DownloadRecord,
    in tx: borrowing StoreTransaction
  ) throws -> Bool {
    let destination = StoredText(record.destination)
    if destinations.contains(destination) { return true }
    return try !examined.contains(destination) && store.isReserved(record, in: tx)
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

  private mutating func addHeaders(of request: DownloadRequest, to record: DownloadRecord) {
    headers.append(
      RequestHeaders(recordID: record.id, fields: request.headers, givenFor: record.url)
    )
  }

  private mutating func addPieces(
    of request: DownloadRequest,
    to record: inout DownloadRecord
  ) throws(RecordStoreError) {
    guard let required = request.pieces, record.received == 0 else { return }
    guard let digests = PieceDigests(requiring: required, recordID: record.id) else {
      throw RecordStoreError(
        .invalidDigest,
        "\(required.digests.count) digests are not those of the pieces of \(required.byteCount) bytes"
      )
    }
    record.hasPieceDigests = true
    pieces.append(digests)
  }

  // MARK: Known records

  /// Applies a request to the record of its URL.
  private mutating func proceed(
    with known: DownloadRecord,
    _ request: DownloadRequest
  ) throws -> DownloadRecord {
    var record = known
    record.tags.formUnion(request.tags)
    record.mirrors += request.mirrors.filter { !known.mirrors.contains($0) }
    if !request.headers.isEmpty {
      record.hasHeaders = true
      addHeaders(of: request, to: record)
    }
    if let digest = request.digest { record.expectedDigest = digest.text }
    try addPieces(of: request, to: &record)
    if let bytesPerSecond = request.bytesPerSecond { record.bytesPerSecond = bytesPerSecond }
    if let connections = request.connections { record.connections = connections }
    if let notBefore = request.notBefore { record.postpone(until: notBefore) }
    if !request.isPaused {
      let isFileMissing =
        try record.state == .completed && store.isFileMissing(of: record, roots)
      record.addAgain(isFileMissing: isFileMissing)
    }
    if record != known { record.updatedAt = store.now() }
    return record
  }
}
