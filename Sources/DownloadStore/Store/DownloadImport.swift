internal import Migrations
package import ObjectStore

/// Reviews the records of a file before they are imported, with the rules of ``RecordStore/add(_:)``.
///
/// A record that no command would store is refused. Ids and destinations stay unique: a record whose
/// id or file name is taken, by another record of the store or of the file, gets another one. A key that
/// another record has, perhaps as its URL, is left out, and so is a record whose URL is a key of another.
/// Header fields and digests are imported only with their record.
package final class DownloadImport: ImportReview {
  /// The handling of records whose URLs are in the store.
  package enum KnownRecords: Sendable, Hashable {
    /// The store's record is kept.
    case keep
    /// The store's record is replaced; it keeps its id.
    case replace
    /// The import fails.
    case fail
  }

  /// Why an object of the file is left out.
  package enum Omission: Sendable, Hashable, CaseIterable {
    /// The store has the object, and keeps its own.
    case known
    /// The user has removed the download in the store that the file comes from.
    case removed
    /// The URL of the download is a key of another one.
    case nameTaken
    /// The header fields or digests belong to no download of the file.
    case withoutDownload
    /// The object concerns the store that the file comes from: a setting of its engines, or a folder
    /// in it.
    case ofOtherStore
  }

  /// The decision about an object.
  private enum Outcome {
    case imported(StoredObject)
    case omitted(Omission)
  }

  /// What is left out because another download has its name.
  package struct LeftOut: Sendable, Hashable {
    /// The key that a record loses; `nil` for the record itself, whose URL is a key.
    package let key: String?
    /// The URL of the record.
    package let url: String
  }

  /// The first values of a list, as messages name them, and the number of the others.
  package struct FirstValues<Value: Sendable>: Sendable {
    /// At most ten values.
    package private(set) var first: [Value] = []
    /// The number of values after these.
    package private(set) var moreCount = 0

    mutating func append(_ value: Value) {
      if first.count < 10 { first.append(value) } else { moreCount += 1 }
    }
  }

  /// The decision about a record, which is the same each time the file is read.
  private struct Place {
    var id: String
    var filename: String
    /// The keys, without those that another record has.
    var keys: Set<String>
    /// Why the record is left out; `nil` if it is imported.
    var omission: Omission?
    /// Whether header fields and digests with the id belong to an earlier record of the file.
    var hasNoDetails = false
  }

  /// The path of the existing store.
  private let path: String?
  private var openedStore: RecordStore?
  private let known: KnownRecords
  private let acceptsHiddenFolders: Bool
  private let records = StoredObjectCoder<DownloadRecord>()
  private let headers = StoredObjectCoder<RequestHeaders>()
  private let pieces = StoredObjectCoder<PieceDigests>()
  private let roots = StoredObjectCoder<Root>()

  /// The decisions that differ from the record, by its number in the file.
  private var places: [Int: Place] = [:]
  /// Whether the file is read to check it, so that it will be read again.
  private var isCheck = false
  /// Whether the file was read before, so that all decisions are made.
  private var isPlanned = false
  private var recordCount = 0
  /// The ids of the file's records so far.
  private var claimedIDs: Set<UInt64> = []
  /// The reasons by the ids of records that are left out.
  private var omittedIDs: [UInt64: Omission] = [:]
  /// The ids of header fields and digests that precede their record in a file that is read once.
  private var earlyDetailIDs: Set<UInt64> = []
  /// The new ids, by the id in the file.
  private var newIDs: [UInt64: String] = [:]
  /// The ids, and the hashes of the destinations, that the file's records get.
  ///
  /// An equal hash of another destination only leads to a number that the name would not need.
  private var ids: Set<UInt64> = []
  private var destinations: Set<Int> = []
  /// The keys of the file's records so far.
  private var keys: Set<StoredText> = []
  /// The hashes of the URLs of the file's records so far.
  private var urls: Set<Int> = []
  /// The last number that was given to each wanted destination.
  private var numbers: [StoredText: Int] = [:]

  /// The lines of the file's first records in roots that the store does not have, by root.
  private var linesInUnknownRoots: [String: Int] = [:]
  /// The roots of the store, once they are needed.
  private var knownRoots: Roots?
  /// The names of the file's roots.
  private var fileRoots: Set<String> = []
  /// The roots of the file that the store does not have, with their paths.
  package private(set) var newRoots: [(name: String, path: String)] = []
  /// The number of objects that are left out, by the reason.
  package private(set) var omittedCounts: [Omission: Int] = [:]
  /// The ids of the store's complete downloads that are kept although known records are replaced, because
  /// the file has earlier states of them.
  package private(set) var keptCompleteIDs = FirstValues<String>()
  /// The number of records that got another id or file name.
  package private(set) var changedRecordCount = 0
  /// The keys and records that are left out because another record has their names.
  package private(set) var leftOut = FirstValues<LeftOut>()

  /// Creates a review.
  ///
  /// - Parameters:
  ///   - path: The path of the store of downloads; `nil` if the import creates it.
  ///   - known: The handling of records whose URLs are in the store.
  ///   - acceptsHiddenFolders: Whether records and roots may be in hidden folders.
  package init(intoStoreAt path: String?, known: KnownRecords, acceptsHiddenFolders: Bool) {
    self.path = path
    self.known = known
    self.acceptsHiddenFolders = acceptsHiddenFolders
  }

  package let model = DownloadRecord.schema.name

  package var uniqueFields: [String: Set<UInt32>] {
    let names: Set = ["id", "destination"]
    return [model: Set(DownloadRecord.schema.fields.filter { names.contains($0.name) }.map(\.id))]
  }

  package func models(ofVersion version: UInt32) -> [ModelSchema] {
    version == DownloadMigrations.currentVersion ? RecordStore.models.map { $0.schema } : []
  }

  /// The existing store; `nil` if the import creates it.
  ///
  /// Opened when it is needed: the import has opened it for writing then, so that this process has it
  /// open once.
  private func store() throws -> RecordStore? {
    guard let path else { return nil }
    let store = try openedStore ?? RecordStore(at: path, access: .readOnly)
    openedStore = store
    return store
  }

  private func storeRoots() throws -> Roots? {
    let roots = try knownRoots ?? store()?.roots()
    knownRoots = roots
    return roots
  }

  package func begin(isCheck: Bool) {
    isPlanned = self.isCheck
    self.isCheck = isCheck
    recordCount = 0
    omittedCounts = [:]
    newRoots = []
    linesInUnknownRoots = [:]
    fileRoots = []
    knownRoots = nil
  }

  package func end() throws {
    let missing = linesInUnknownRoots.filter { !fileRoots.contains($0.key) }
    guard let first = missing.min(by: { $0.value < $1.value }) else { return }
    throw ImportRefusal(
      "neither the store nor the file has the root '\(first.key)' of the record",
      line: first.value
    )
  }

  package func review(_ object: StoredObject, line: Int) throws -> StoredObject? {
    do {
      switch try outcome(of: object, line) {
      case .imported(let object): return object
      case .omitted(let reason):
        omittedCounts[reason, default: 0] += 1
        return nil
      }
    } catch let error as RecordStoreError {
      throw ImportRefusal(error.message)
    } catch let error as RecordError {
      throw ImportRefusal("\(error)")
    }
  }

  private func outcome(of object: StoredObject, _ line: Int) throws -> Outcome {
    switch object.model {
    case DownloadRecord.schema.name: return try reviewRecord(object, line)
    case RequestHeaders.schema.name:
      let value = try headers.decode(object)
      try value.validate()
      return try reviewDetail(of: value.recordID, object) { id in
        var value = value
        value.recordID = id
        return try headers.object(value, replacing: object)
      }
    case PieceDigests.schema.name:
      let value = try pieces.decode(object)
      try value.validate()
      return try reviewDetail(of: value.recordID, object) { id in
        var value = value
        value.recordID = id
        return try pieces.object(value, replacing: object)
      }
    case Root.schema.name: return try reviewRoot(object)
    // What is set for the engines of another store does not concern those of this one.
    case EngineSettings.schema.name: return .omitted(.ofOtherStore)
    default: return .imported(object)
    }
  }

  // MARK: Records

  private func reviewRecord(_ object: StoredObject, _ line: Int) throws -> Outcome {
    let record = try records.decode(object)
    try record.validate(acceptsHiddenFolder: acceptsHiddenFolders)
    let number = recordCount
    recordCount += 1
    if !isPlanned { try plan(record, number) }
    let place = places[number]
    if let omission = place?.omission { return .omitted(omission) }
    if !RootName.implied.contains(record.root), linesInUnknownRoots[record.root] == nil,
      try storeRoots()?.path(of: record.root) == nil
    {
      linesInUnknownRoots[record.root] = line
    }
    var result = record
    if let place {
      result.id = place.id
      result.filename = place.filename
      result.keys = place.keys
      result.destination = FileLayout.destination(
        root: record.root,
        folder: record.folder,
        filename: place.filename
      )
      if place.hasNoDetails {
        result.hasHeaders = false
        result.hasPieceDigests = false
      }
    }
    try result.apply(
      .imported(keepingBytes: try countsStoredBytes(result)),
      at: record.updatedAt
    )
    return .imported(result == record ? object : try records.object(result, replacing: object))
  }

  /// Whether the bytes of a record are those of its partial file in the store.
  ///
  /// The partial files of another store have other names, and a new store has none.
  private func countsStoredBytes(_ record: DownloadRecord) throws -> Bool {
    guard let store = try store() else { return false }
    let stored = try store.objects.read { tx in try tx.find(DownloadRecord.self, key: record.url) }
    return stored.map { $0.countsSameBytes(as: record) } ?? false
  }

  private func plan(_ record: DownloadRecord, _ number: Int) throws {
    let fileID = Self.number(ofID: record.id)
    let isClaimed = !claimedIDs.insert(fileID).inserted
    guard !earlyDetailIDs.contains(fileID) else {
      throw ImportRefusal(
        "its header fields or digests come before it: move their lines to the end"
      )
    }
    let stored = try store()?.objects.read { tx in
      try tx.find(DownloadRecord.self, key: record.url)
    }
    var place = Place(
      id: record.id,
      filename: record.filename,
      keys: record.keys,
      hasNoDetails: isClaimed
    )
    // Its user has removed it. The store that it comes from deletes its files.
    let isRemoved = record.state == .removed || record.intent == .remove
    if isRemoved {
      place.omission = .removed
    } else if let stored {
      if known == .keep {
        place.omission = .known
      } else if known == .replace, try isEarlier(record, than: stored) {
        place.omission = .known
        keptCompleteIDs.append(stored.id)
      }
    } else if try isKey(record.url) {
      guard known != .fail else {
        throw ImportRefusal("its URL is a key of another download; --if-known keep leaves it out")
      }
      place.omission = .nameTaken
      leftOut.append(LeftOut(key: nil, url: record.url))
    }
    if let omission = place.omission {
      places[number] = place
      if !isClaimed { omittedIDs[fileID] = omission }
      return
    }
    if let stored {
      place.id = stored.id
    } else {
      var round = 2
      while try isTaken(id: place.id) {
        place.id = RecordIdentity.id(forURL: record.url, round: round)
        round += 1
      }
    }
    ids.insert(Self.number(ofID: place.id))
    if !isClaimed, place.id != record.id { newIDs[fileID] = place.id }
    place.filename = try freeName(for: record)
    destinations.insert(Self.hash(of: destination(of: record, named: place.filename)))
    place.keys = try record.keys.filter { try !isTaken(key: $0, byOtherThan: record.url) }
    keys.formUnion(place.keys.map { StoredText($0) })
    urls.insert(Self.hash(of: record.url))
    for key in record.keys.subtracting(place.keys).sorted() {
      leftOut.append(LeftOut(key: key, url: record.url))
    }
    let isSamePlace = place.id == record.id && place.filename == record.filename
    if !isSamePlace { changedRecordCount += 1 }
    if !isSamePlace || place.keys != record.keys || place.hasNoDetails { places[number] = place }
  }

  /// Whether the file has an earlier state of a complete download whose file is intact.
  ///
  /// The finished file would have no record, and the next run would download it again, under another name.
  private func isEarlier(_ record: DownloadRecord, than stored: DownloadRecord) throws -> Bool {
    guard stored.state == .completed, record.updatedAt <= stored.updatedAt,
      record.state != .completed || record.fileIdentity != stored.fileIdentity
    else { return false }
    return try store()?.isIntact(stored) ?? false
  }

  private func isTaken(id: String) throws -> Bool {
    if ids.contains(Self.number(ofID: id)) { return true }
    return try store()?.objects.read { tx in
      try tx.exists(DownloadRecord.where { $0.id == id })
    } ?? false
  }

  private func isTaken(key: String, byOtherThan url: String) throws -> Bool {
    if keys.contains(StoredText(key)) { return true }
    if StoredText(key) != StoredText(url), urls.contains(Self.hash(of: key)) { return true }
    let owners = try store()?.objects.read { tx in
      [try tx.record(withKey: key), try tx.find(DownloadRecord.self, key: key)]
    }
    return owners?.contains { $0.map { StoredText($0.url) != StoredText(url) } ?? false } ?? false
  }

  /// Whether a URL is a key of another record of the file or of the store.
  private func isKey(_ url: String) throws -> Bool {
    if keys.contains(StoredText(url)) { return true }
    let owner: DownloadRecord? = try store()?.objects.read { tx in try tx.record(withKey: url) }
    return owner != nil
  }

  /// The file name of the record, numbered if another record has its destination.
  private func freeName(for record: DownloadRecord) throws -> String {
    let wanted = StoredText(record.destination)
    guard try numbers[wanted] != nil || isTaken(record.filename, for: record) else {
      return record.filename
    }
    let number = try FreeNumber.find(after: numbers[wanted] ?? 1) { number in
      try !isTaken(SafeFilename.numbered(record.filename, number), for: record)
    }
    numbers[wanted] = number
    return SafeFilename.numbered(record.filename, number)
  }

  /// Whether another record of the file or of the store has a file name in the folder of a record.
  private func isTaken(_ filename: String, for record: DownloadRecord) throws -> Bool {
    let url = record.url
    let wanted = FileLayout.exclusiveDestinations(
      root: record.root,
      folder: record.folder,
      filename: filename
    )
    if wanted.contains(where: { destinations.contains(Self.hash(of: $0)) }) { return true }
    return try store()?.objects.read { tx in
      try wanted.contains { destination in
        try tx.exists(DownloadRecord.where { $0.destination == destination && $0.url != url })
      }
    } ?? false
  }

  private func destination(of record: DownloadRecord, named filename: String) -> String {
    FileLayout.destination(root: record.root, folder: record.folder, filename: filename)
  }

  /// The hash of the bytes; that of a `String` is equal for canonically equivalent ones.
  private static func hash(of text: String) -> Int { Array(text.utf8).hashValue }

  /// The number that a valid id writes in hexadecimal digits.
  private static func number(ofID id: String) -> UInt64 { UInt64(id, radix: 16) ?? 0 }

  // MARK: Details and roots

  /// Reviews header fields or digests.
  ///
  /// - Parameters:
  ///   - id: The id of their record in the file.
  ///   - object: The object.
  ///   - move: Returns the object for a record with another id.
  /// - Returns: The decision.
  /// - Throws: An error of `move`.
  private func reviewDetail(
    of id: String,
    _ object: StoredObject,
    movedTo move: (String) throws -> StoredObject
  ) throws -> Outcome {
    // The file is read again when all records are known.
    guard !isCheck else { return .imported(object) }
    let number = Self.number(ofID: id)
    guard claimedIDs.contains(number) else {
      if !isPlanned { earlyDetailIDs.insert(number) }
      return .omitted(.withoutDownload)
    }
    if let omission = omittedIDs[number] { return .omitted(omission) }
    return .imported(try newIDs[number].map(move) ?? object)
  }

  private func reviewRoot(_ object: StoredObject) throws -> Outcome {
    let root = try roots.decode(object)
    try root.validate()
    fileRoots.insert(root.name)
    guard !RootName.isOfOutput(root.name) else { return .omitted(.ofOtherStore) }
    // The standard root has a path without being stored.
    if let roots = try storeRoots(), let path = roots.path(of: root.name) {
      let isEqual = StoredText(path) == StoredText(root.path)
      switch known {
      case .keep: return .omitted(.known)
      case .fail where isEqual || root.name == RootName.standard: return .omitted(.known)
      case .replace where isEqual:
        return roots.paths[root.name] == nil ? .omitted(.known) : .imported(object)
      case .replace, .fail: break
      }
    }
    guard acceptsHiddenFolders || !FileLayout.isHidden(root.path) else {
      throw RecordStoreError(.invalidName, "the root '\(root.path)' is a hidden folder")
    }
    newRoots.append((root.name, root.path))
    return .imported(object)
  }
}
