/// The entries of indexes that a write of one record adds and removes.
struct IndexEntries: ~Copyable {
  private(set) var added = KeyList()
  private(set) var removed = KeyList()
  private var indexesOfAdded: [Int] = []
  private var indexesOfRemoved: [Int] = []
  private var before = KeyList()
  private var after = KeyList()

  /// The number of the index of which `added[number]` is an entry.
  func indexOfAdded(_ number: Int) -> Int { indexesOfAdded[number] }

  /// The number of the index of which `removed[number]` is an entry.
  func indexOfRemoved(_ number: Int) -> Int { indexesOfRemoved[number] }

  mutating func removeAll() {
    added.removeAll()
    removed.removeAll()
    indexesOfAdded.removeAll(keepingCapacity: true)
    indexesOfRemoved.removeAll(keepingCapacity: true)
  }

  mutating func add(
    _ record: borrowing RecordView,
    _ id: UInt64,
    in index: ModelTables.Index,
    _ number: Int
  ) throws(RecordError) {
    try added.append(record, id, in: index)
    while indexesOfAdded.count < added.count { indexesOfAdded.append(number) }
  }

  mutating func remove(
    _ record: borrowing RecordView,
    _ id: UInt64,
    in index: ModelTables.Index,
    _ number: Int
  ) throws(RecordError) {
    try removed.append(record, id, in: index)
    while indexesOfRemoved.count < removed.count { indexesOfRemoved.append(number) }
  }

  /// Only the entries that differ.
  mutating func replace(
    _ old: borrowing RecordView,
    with new: borrowing RecordView,
    _ id: UInt64,
    in index: ModelTables.Index,
    _ number: Int
  ) throws(RecordError) {
    before.removeAll()
    after.removeAll()
    try before.append(old, id, in: index)
    try after.append(new, id, in: index)
    for entry in 0..<before.count where unsafe !after.contains(before[entry]) {
      unsafe removed.append(before[entry])
      indexesOfRemoved.append(number)
    }
    for entry in 0..<after.count where unsafe !before.contains(after[entry]) {
      unsafe added.append(after[entry])
      indexesOfAdded.append(number)
    }
  }
}
