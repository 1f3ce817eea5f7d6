internal import LMDB
public import ObjectStoreCore

/// The sizes, readers and transaction times of a store at one moment.
///
/// ``Store/statistics()`` returns it.
///
/// ```swift
/// let statistics: StoreStatistics = try store.statistics()
/// let free = statistics.freePages * statistics.pageSize
/// print("\(free) of \(statistics.fileSize) bytes are free")
/// for (name, model) in statistics.models { print(name, model.objects, model.byteCount) }
/// print("mean commit: \(statistics.transactions.commits.mean)")
/// ```
public struct StoreStatistics: Sendable, Hashable {
  /// The size of one table, a B+ tree.
  public struct Table: Sendable, Hashable {
    /// The number of entries.
    public var entries: Int
    /// The height of the tree: the number of pages from the root to a leaf, both included.
    public var depth: Int
    /// The number of pages in use.
    public var pages: Int
    /// The size of the pages in use, in bytes.
    public var byteCount: Int
  }

  /// The sizes of the tables of one model.
  public struct Model: Sendable, Hashable {
    /// The number of objects.
    public var objects: Int
    /// The records, without the hot fields.
    public var records: Table
    /// The hot fields, those of up to 32 consecutive objects in each entry.
    public var hotParts: Table
    /// The index from primary keys to objects.
    public var primaryKeys: Table
    /// The indexes, by ``StoredModel/Index/id``.
    public var indexes: [UInt32: Table]
    /// The columns, by the id of their field.
    public var columns: [UInt32: Table]

    /// The size of all pages of the model, in bytes.
    public var byteCount: Int {
      records.byteCount + hotParts.byteCount + primaryKeys.byteCount
        + indexes.values.reduce(0) { $0 + $1.byteCount }
        + columns.values.reduce(0) { $0 + $1.byteCount }
    }
  }

  /// The address space reserved for the file, in bytes.
  public var mapSize: Int
  /// The size of the used part of the file, including free pages, in bytes.
  public var fileSize: Int
  /// The size of a page, in bytes.
  public var pageSize: Int
  /// The number of free pages, which later commits reuse once no snapshot needs them.
  public var freePages: Int
  /// The number of the last commit.
  public var lastCommit: UInt64
  /// The open snapshots of all processes, oldest first.
  public var readers: [SnapshotReader]
  /// The maximum number of snapshots open at one time, over all processes.
  public var maximumReaders: Int
  /// All models in the store by name, including those that the program did not open.
  public var models: [String: Model]
  /// The transactions of this store value since it was opened.
  public var transactions: TransactionStatistics

  /// Returns the readers whose snapshot is at least `age` commits old.
  ///
  /// The store cannot reuse pages that were freed after a snapshot was opened, so an old snapshot
  /// makes the file grow.
  public func slowReaders(ageInCommits age: UInt64 = 1_000) -> [SnapshotReader] {
    readers.filter { $0.ageInCommits >= age }
  }
}

extension Store {
  /// Returns the sizes of the store and its models, the open snapshots, and transaction times.
  ///
  /// It does not read any records.
  ///
  /// - Throws: ``StoreError`` with `damaged` when the store's description of its models cannot be
  ///   read, or `other` when LMDB fails.
  /// - Complexity: O(n) in the number of models and indexes, and of commits whose freed pages have
  ///   not been reused.
  public func statistics() throws -> StoreStatistics {
    try translating("reading \(path)") {
      let environmentStatistics = try environment.statistics()
      let pageSize = environmentStatistics.pageSize
      // Before this call opens its own snapshot, so that the list does not contain it.
      let last = environmentStatistics.lastTransactionID
      let readers = environment.snapshotReaders(asOf: last)
      let models = try readStored { transaction, schema in
        var models: [String: StoreStatistics.Model] = [:]
        for entry in schema.models {
          models[entry.tables.name] = try StoreStatistics.Model(
            entry.tables,
            pageSize: pageSize,
            in: transaction
          )
        }
        return models
      }
      return StoreStatistics(
        mapSize: environmentStatistics.mapSize,
        fileSize: environmentStatistics.usedSize,
        pageSize: pageSize,
        freePages: try environment.freePageCount(),
        lastCommit: last,
        readers: readers,
        maximumReaders: environmentStatistics.maximumReaders,
        models: models,
        transactions: metrics.transactions
      )
    }
  }
}

extension StoreStatistics.Model {
  init(
    _ tables: ModelTables,
    pageSize: Int,
    in transaction: borrowing ReadTransaction
  ) throws {
    records = StoreStatistics.Table(try transaction.statistics(of: tables.records), pageSize)
    hotParts = StoreStatistics.Table(try transaction.statistics(of: tables.hot), pageSize)
    primaryKeys = StoreStatistics.Table(try transaction.statistics(of: tables.keys), pageSize)
    objects = records.entries
    indexes = [:]
    for index in tables.maintainedIndexes {
      let statistics = try transaction.statistics(of: index.database)
      indexes[index.description.id] = StoreStatistics.Table(statistics, pageSize)
    }
    columns = [:]
    for column in tables.columns {
      let statistics = try transaction.statistics(of: column.database)
      columns[column.description.fieldID] = StoreStatistics.Table(statistics, pageSize)
    }
  }
}

extension StoreStatistics.Table {
  init(_ statistics: DatabaseStatistics, _ pageSize: Int) {
    entries = statistics.entries
    depth = statistics.depth
    pages = statistics.branchPages + statistics.leafPages + statistics.overflowPages
    byteCount = pages * pageSize
  }
}
