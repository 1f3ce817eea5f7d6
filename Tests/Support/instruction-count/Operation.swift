/// An operation and the amount of its work in one round.
struct Operation: Sendable {
  /// The name, which includes the unit of work.
  let name: String
  let units: Int
  let run: @Sendable (Workload) async throws -> Void

  private init(
    _ name: String,
    per units: Int,
    _ run: @escaping @Sendable (Workload) async throws -> Void
  ) {
    self.name = name
    self.units = units
    self.run = run
  }

  private static let batch = SampleStores.batch

  static let all = [
    Self("lookup by primary key, a whole record", per: batch) { try $0.lookUpRecords() },
    Self("lookup by primary key, one field of a view", per: batch) { try $0.lookUpFields() },
    Self("query of an index, a whole record", per: batch) { try $0.query() },
    Self("filter without an index, a record", per: SampleStores.count) { try $0.filter() },
    Self("opening a store", per: 10) { try $0.open() },
    Self("check of the pages, a record", per: SampleStores.count) { try $0.checkPages() },
    Self("adding downloads in one commit, a download", per: batch) { try $0.add() },
    Self("insert in one commit, a record", per: batch) { try $0.insert() },
    Self("upsert in one commit, a record with an indexed change", per: batch) { try $0.upsert() },
    Self("checkpoint in one commit, a download", per: batch) { try $0.checkpoint() },
    Self("durable commit of one change", per: 100) { try $0.commit() },
    Self("change of one record under an observed result of 9,000", per: 100) {
      try await $0.observe()
    },
    Self("reconciliation at launch, an active download", per: SampleStores.activeCount) {
      try await $0.reconcile()
    },
  ]
}
