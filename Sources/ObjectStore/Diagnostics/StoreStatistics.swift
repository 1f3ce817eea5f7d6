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

  /// The readers that so many commits came after: what keeps a file growing.
  public func slowReaders(ageInCommits age: UInt64 = 1_000) -> [Reader] {
    readers.filter { $0.ageInCommits >= age }
  }
}
