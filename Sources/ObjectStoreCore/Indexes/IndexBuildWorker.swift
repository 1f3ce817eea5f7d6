package import LMDB

/// Builds the listed indexes of a store, in steps of a few milliseconds.
///
/// It reads the keys of as many objects as the memory limit permits, sorts them, and adds them in
/// that order, so that the pages of the index are filled one after another. A writer may change an
/// object in between: an entry is only added if the object still has it. The position in the store
/// advances when all entries of those objects are added, so after a kill they are added again. The
/// first runs are short, so that a program that soon ends advances it too.
///
/// Several programs may build the same index at a time: one of them advances the position, and the
/// others continue from there.
package struct IndexBuildWorker {
  /// The number of objects that a step reads.
  static let readCount = 16_384
  /// The number of entries that a step adds.
  static let batchCount = 2_048

  private let environment: Environment
  /// The number of bytes of the keys of a run.
  private var memoryLimit: Int
  private let greatestMemoryLimit: Int
  private var run: Run?

  /// The entries of some objects of a model.
  private final class Run {
    /// The build as the store lists it.
    let build: IndexBuild
    let schema: StoredSchema
    let tables: ModelTables
    let index: ModelTables.Index
    /// The parts of a record that have the indexed fields.
    let parts: RecordParts
    var keys = SortedKeys()
    /// The build after the run.
    var following: IndexBuild
    /// Whether there are no objects after the run.
    var isLast = false
    /// Whether all objects of the run are read.
    var isRead = false
    /// The number of entries that were added or need not be.
    var position = 0

    init(
      _ build: IndexBuild,
      _ schema: StoredSchema,
      _ tables: ModelTables,
      _ index: ModelTables.Index
    ) {
      self.build = build
      self.schema = schema
      self.tables = tables
      self.index = index
      parts = tables.parts(ofFieldsAt: index.parts.compactMap(\.position)).union(.cold)
      following = build
    }

    /// Whether the schema of the store is still the one that the tables were opened with.
    func isCurrent(in transaction: borrowing some Transaction & ~Copyable) throws -> Bool {
      let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
      return epoch == schema.epoch
    }
  }

  /// The result of a step.
  package enum Step: Sendable, Equatable {
    /// No index is being built.
    case nothing
    /// More steps follow.
    case progressed
    /// An index is complete.
    case completed(IndexBuild)
  }

  package init(_ environment: Environment, memoryLimit: Int = 32 << 20) {
    self.environment = environment
    self.memoryLimit = min(memoryLimit, 1 << 20)
    greatestMemoryLimit = memoryLimit
  }

  /// Performs one step.
  ///
  /// - Throws: ``StoreError`` with `damaged` if a record cannot be read; an error of LMDB.
  package mutating func step() throws -> Step {
    guard let run else {
      self.run = try begin()
      return self.run == nil ? .nothing : .progressed
    }
    guard run.isRead else {
      if try !read(run) { self.run = nil }
      return .progressed
    }
    let outcome = try StoreOpening.growingMap { try add(run) }
    switch outcome {
    case .added: return .progressed
    case .ended:
      self.run = nil
      memoryLimit = min(memoryLimit * 2, greatestMemoryLimit)
      return run.isLast ? .completed(run.following) : .progressed
    case .superseded:
      self.run = nil
      return .progressed
    }
  }

  /// Returns a run at the position of the first build; `nil` if there is none.
  private func begin() throws -> Run? {
    while true {
      let schema = try StoredSchema(environment)
      let transaction = try environment.beginRead()
      guard let build = try schema.metadata.indexBuilds(in: transaction).first else { return nil }
      guard let tables = schema.model(build.model)?.tables,
        let index = tables.buildingIndexes.first(where: { $0.description == build.index })
      else {
        let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
        // Another program has changed the schema since it was read.
        if epoch != schema.epoch { continue }
        throw StoreError(.damaged, "the model \(build.model) of an index that is built is missing")
      }
      return Run(build, schema, tables, index)
    }
  }

  /// Reads further objects of a run; returns false if the schema has changed.
  private func read(_ run: Run) throws -> Bool {
    let transaction = try environment.beginRead()
    guard try run.isCurrent(in: transaction) else { return false }
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: run.tables
    )
    var list = KeyList()
    var count = 0
    var next: UInt64?
    unsafe try reader.forEachRecord(parts: run.parts, from: run.following.next) { id, record in
      guard count < Self.readCount, run.keys.byteCount < memoryLimit else {
        next = id
        return false
      }
      try Self.collect(record, id, of: run, in: &list)
      for number in 0..<list.count { unsafe run.keys.append(list[number]) }
      count += 1
      return true
    }
    // A count for display, and a damaged one must not end the process.
    run.following.objectCount &+= UInt64(count)
    run.isLast = next == nil
    if let next { run.following.next = next }
    run.isRead = run.isLast || run.keys.byteCount >= memoryLimit
    if run.isRead { run.keys.sort() }
    return true
  }

  /// Replaces the keys in a list by those of a record.
  private static func collect(
    _ record: borrowing RecordView,
    _ id: UInt64,
    of run: Run,
    in list: inout KeyList
  ) throws {
    list.removeAll()
    do throws(RecordError) {
      try list.append(record, id, in: run.index)
    } catch {
      throw StoreError(error, model: run.tables.name, objectID: id)
    }
  }

  private enum Outcome {
    case added
    /// All entries of the run are added, and the position in the store has advanced.
    case ended
    /// Another program has advanced the position, ended the build or changed the schema.
    case superseded
  }

  /// Adds the next entries of a run in a transaction.
  private func add(_ run: Run) throws -> Outcome {
    var transaction = try environment.beginWrite()
    guard try run.isCurrent(in: transaction),
      try run.schema.metadata.indexBuilds(of: run.build.model, in: transaction).contains(run.build)
    else { return .superseded }
    let end = min(run.position + Self.batchCount, run.keys.count)
    try put(run, run.position..<end, in: &transaction)
    if end < run.keys.count {
      try transaction.commit(.ordered)
      run.position = end
      return .added
    }
    if run.isLast {
      try run.following.complete(run.schema.metadata, in: &transaction)
      try transaction.commit()
    } else {
      let following = run.following
      try run.schema.metadata.set(following.encoded, for: following.key, in: &transaction)
      try transaction.commit(.ordered)
    }
    return .ended
  }

  /// Adds those of some entries that their objects still have.
  private func put(
    _ run: Run,
    _ range: Range<Int>,
    in transaction: inout WriteTransaction
  ) throws {
    var list = KeyList()
    let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    for position in range {
      let key = unsafe run.keys[position]
      guard let id = unsafe KeyEncoding.objectID(of: key) else { continue }
      let reader = unsafe ModelReader(
        transaction: TransactionReference(transaction),
        tables: run.tables
      )
      guard let record = unsafe try reader.record(id, parts: run.parts) else { continue }
      try Self.collect(record, id, of: run, in: &list)
      guard unsafe list.contains(key) else { continue }
      unsafe try transaction.put(nothing, for: key, in: run.index.database)
    }
  }
}
