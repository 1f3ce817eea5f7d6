internal import LMDB

/// What can be read of the file of a damaged store, without trusting any page of it.
struct SalvagedFile {
  /// An entry of a leaf that no tree leads to any more.
  struct Entry {
    var key: [UInt8]
    var value: [UInt8]
  }

  private let reader: DataFileReader
  private let trees: [String: DataFileReader.Tree]
  /// The tables that are damaged or cannot be found.
  private let damagedTables: Set<String>
  /// What lies behind pages that are damaged.
  let lostEntries: [Entry]
  let damages: [DataFileReader.Damage]
  let damageCount: Int
  private(set) var notes: [String] = []
  /// The table `store`, as far as it can be read.
  private(set) var description: [String: [UInt8]] = [:]

  init(path: String) throws {
    let file = path + "/data.mdb"
    // Once to see what is damaged, and what nothing leads to.
    let survey = try DataFileReader(path: file)
    let trees = survey.trees()
    let areNamesDamaged = survey.damageCount > 0
    var damaged: Set<String> = []
    for (name, tree) in trees.sorted(by: { $0.key < $1.key }) {
      let before = survey.damageCount
      survey.forEachEntry(of: tree, named: name) { _, _ in }
      if survey.damageCount > before { damaged.insert(name) }
    }
    let free = survey.freePages()
    var lost: [Entry] = []
    if let free, areNamesDamaged || !damaged.isEmpty {
      survey.forEachLostEntry(free: free) { key, value in
        lost.append(Entry(key: key.array, value: value.array))
      }
    }
    damages = survey.damages
    damageCount = survey.damageCount
    damagedTables = damaged
    lostEntries = lost
    reader = try DataFileReader(path: file)
    self.trees = reader.trees()
    if free == nil, areNamesDamaged || !damaged.isEmpty {
      notes.append(
        """
        the list of free pages is damaged, so what lies behind damaged pages cannot be told from \
        what was deleted: it was not searched
        """
      )
    }
    readDescription(survey)
  }

  /// Whether entries of the table may be missing.
  func isDamaged(_ table: String) -> Bool {
    damagedTables.contains(table) || trees[table] == nil
  }

  /// Calls `body` with each entry of the table that can be read.
  func forEachEntry(
    of table: String,
    _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) rethrows {
    guard let tree = trees[table] else { return }
    try reader.forEachEntry(of: tree, named: table) { key, value in
      try body(key.array, value.array)
    }
  }

  private mutating func readDescription(_ survey: DataFileReader) {
    var found: [String: [UInt8]] = [:]
    forEachEntry(of: TableName.store) { key, value in
      found[String(decoding: key, as: UTF8.self)] = value
    }
    if isDamaged(TableName.store) {
      notes.append("the store's description of itself is damaged: indexes may be missing")
      // Layouts and the seed are never changed or removed, so those of earlier commits are right.
      survey.forEachLostEntry(free: []) { key, value in
        let name = String(decoding: key.array, as: UTF8.self)
        guard name.hasPrefix("layout/") || name == MetadataKey.seed, found[name] == nil
        else { return }
        found[name] = value.array
      }
    }
    description = found
  }
}

extension Span<UInt8> {
  /// A copy.
  var array: [UInt8] { indices.map { self[$0] } }
}
