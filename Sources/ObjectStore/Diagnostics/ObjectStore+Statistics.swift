internal import LMDB

extension ObjectStore {
  /// The sizes of the store and of each model in it, who reads it, and how long its writes took.
  ///
  /// Looks at no records.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `other`.
  /// - Complexity: O(n) in the models and indexes, and in the commits whose freed pages nothing has
  ///   used yet.
  public func statistics() throws -> StoreStatistics {
    try translating("reading \(path)") {
      let environmentStatistics = try environment.statistics()
      let pageSize = environmentStatistics.pageSize
      // Before our own snapshot, which is none that anybody waits for.
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

extension Environment {
  /// The readers of any process that have a snapshot open, the oldest first.
  func snapshotReaders(asOf last: UInt64) -> [StoreStatistics.Reader] {
    let readers = readers().compactMap { reader in
      reader.transactionID.map { commit in
        StoreStatistics.Reader(
          processID: reader.processID,
          ageInCommits: last - min(commit, last)
        )
      }
    }
    return readers.sorted { $0.ageInCommits > $1.ageInCommits }
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
    for index in tables.indexes {
      let statistics = try transaction.statistics(of: index.database)
      indexes[index.description.id] = StoreStatistics.Table(statistics, pageSize)
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
