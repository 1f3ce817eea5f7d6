internal import LMDB

/// What reads and writes have in common: typed reading at one snapshot.
public protocol ObjectReader: ~Copyable {
  /// The store's own side of the transaction.
  var source: ReaderSource { get }
}

/// The store's own side of a transaction, of no use outside it.
@safe  // Although it holds a reference: nothing outside the module can do anything with it.
public struct ReaderSource {
  let transaction: TransactionReference
  let schema: StoreSchema

  init(_ transaction: borrowing some Transaction & ~Copyable, _ schema: StoreSchema) {
    unsafe self.transaction = unsafe TransactionReference(transaction)
    self.schema = schema
  }

  /// The records of the model, or `nil` when the store has never seen it.
  func records<M: Model>(of model: M.Type) throws -> RecordSource<M>? {
    guard let tables = try schema.tables(of: model) else { return nil }
    return unsafe RecordSource(transaction: transaction, tables: tables)
  }
}

extension ObjectReader where Self: ~Copyable {
  /// The object of that primary key, or `nil`.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the objects of the model.
  public func get<M: Model>(_ model: M.Type, _ key: M.PrimaryKey) throws -> M? {
    guard let records = unsafe try source.records(of: model),
      let id = unsafe try records.objectID(of: key)
    else { return nil }
    return unsafe try records.object(id)
  }

  /// Whether there is an object of that primary key.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the objects of the model.
  public func contains<M: Model>(_ model: M.Type, _ key: M.PrimaryKey) throws -> Bool {
    unsafe try source.records(of: model)?.objectID(of: key) != nil
  }

  /// The objects of the query.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(k log n) for the k candidates of an index that serves the query, otherwise
  ///   O(n) in the objects of the model; an order adds the sorting of what is found.
  public func fetch<M: Model>(_ query: Query<M>) throws -> [M] {
    unsafe try source.records(of: M.self)?.fetch(query) ?? []
  }

  /// The first object of the query, or `nil`.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  public func first<M: Model>(_ query: Query<M>) throws -> M? {
    try fetch(query.limit(min(query.takeCount, 1))).first
  }

  /// How many objects the query finds, without decoding them.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(1) for all objects of a model, otherwise as ``fetch(_:)``.
  public func count<M: Model>(_ query: Query<M>) throws -> Int {
    unsafe try source.records(of: M.self)?.count(query) ?? 0
  }

  /// Calls `body` with each object of the query, one at a time; it returns false to stop.
  ///
  /// Without an order the objects are never all in memory.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or what `body` throws.
  public func forEach<M: Model>(_ query: Query<M>, _ body: (M) throws -> Bool) throws {
    unsafe try source.records(of: M.self)?.forEach(query, body)
  }

  /// How the query finds its objects: `index on state`, or `scan`.
  ///
  /// - Throws: ``StoreError`` with `unknownModel`.
  public func explain<M: Model>(_ query: Query<M>) throws -> String {
    switch unsafe try source.records(of: M.self)?.plan(query.predicate) {
    case .scan, nil: "scan"
    case .index(let position, _): "index on \(M.schema.fields[position].name)"
    }
  }
}
