/// The sizes of a store and what it is used for, at one moment.
public struct StoreStatistics: Sendable, Hashable {
  /// The pages of one table.
  public struct Table: Sendable, Hashable {
    /// How many entries there are.
    public var entries: Int
    /// How many pages lie between the root and an entry, both included.
    public var depth: Int
    /// The pages in use.
    public var pages: Int
    /// The pages in use, in bytes.
    public var byteCount: Int
  }

  /// One model.
  public struct Model: Sendable, Hashable {
    /// How many objects there are.
    public var objects: Int
    /// The records, without what changes often.
    public var records: Table
    /// What changes often, of 32 neighbours in each entry.
    public var hotParts: Table
    /// The ways from primary keys to objects.
    public var primaryKeys: Table
    /// The indexes, by the ids of ``StoredModel/Index``.
    public var indexes: [UInt32: Table]

    /// All pages of the model, in bytes.
    public var byteCount: Int {
      records.byteCount + hotParts.byteCount + primaryKeys.byteCount
        + indexes.values.reduce(0) { $0 + $1.byteCount }
    }
  }

  /// A reader of any process that has a snapshot open.
  public struct Reader: Sendable, Hashable {
    /// The process.
    public var processID: Int32
    /// How many commits came after the one that it reads: what they freed cannot be used again.
    public var ageInCommits: UInt64
  }

  /// How often something was done, and how long it took.
  public struct Timing: Sendable, Hashable {
    /// How often.
    public var count = 0
    /// All times together.
    public var total = Duration.zero
    /// The shortest time; zero before the first.
    public var shortest = Duration.zero
    /// The longest time.
    public var longest = Duration.zero
    /// The time of the one that ended last.
    public var last = Duration.zero

    /// The time that one took on average; zero before the first.
    public var mean: Duration { count == 0 ? .zero : total / count }

    /// A timing of nothing.
    public init() {}
  }

  /// What one store value has done since it was opened; others of the same folder count their own.
  ///
  /// The commits of many writes that waited at one time are fewer than the writes.
  public struct Transactions: Sendable, Hashable {
    /// How many snapshots were taken, by reads, observations and ``ObjectStore/snapshot()``.
    public var reads = 0
    /// The waits for the write transaction of other threads and processes, one for each transaction.
    public var writeWaits = Timing()
    /// The closures of writes, those that threw too.
    public var writes = Timing()
    /// The commits that changed something, with their waits for the disk.
    public var commits = Timing()

    /// Counts of nothing.
    public init() {}
  }

  /// The address space reserved for the file, in bytes.
  public var mapSize: Int
  /// The part of the file that is in use, free pages included, in bytes.
  public var fileSize: Int
  /// The size of a page, in bytes.
  public var pageSize: Int
  /// Pages that later commits use again, unless a reader keeps them.
  public var freePages: Int
  /// The number of the last commit.
  public var lastCommit: UInt64
  /// The readers that have a snapshot open, the oldest first.
  public var readers: [Reader]
  /// The most readers at a time, over all processes.
  public var maximumReaders: Int
  /// The models, by name, also those that the program was not opened with.
  public var models: [String: Model]
  /// What this store value has done so far.
  public var transactions: Transactions

  /// The readers that so many commits came after: what keeps a file growing.
  public func slowReaders(ageInCommits age: UInt64 = 1_000) -> [Reader] {
    readers.filter { $0.ageInCommits >= age }
  }
}
