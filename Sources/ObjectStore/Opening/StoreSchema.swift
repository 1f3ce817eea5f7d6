internal import LMDB
internal import Synchronization

/// What the store says of the program's models, as of one epoch.
final class StoreSchema: Sendable {
  let metadata: Metadata
  /// `nil` in a store that is open for reading and has none.
  let history: HistoryTable?
  let epoch: UInt64
  /// Chosen at random when the store was made; never changes.
  let seed: UInt64
  /// The version of the application's schema that wrote the store last.
  let version: UInt32
  /// A commit at which this was found to be what the store says.
  let checkedCommit = Atomic<UInt64>(.max)
  /// Which fields of which models refer to which.
  let references: ReferenceGraph
  /// The models with which the program opened the store: few, so they are searched in order.
  private let models: ContiguousArray<Entry>

  struct Entry: Sendable {
    var model: any Model.Type
    /// `nil` for a model that the store has never seen.
    var tables: ModelTables?
  }

  init(
    metadata: Metadata,
    history: HistoryTable?,
    epoch: UInt64,
    seed: UInt64,
    version: UInt32,
    models: [Entry],
    references: ReferenceGraph
  ) {
    self.metadata = metadata
    self.history = history
    self.epoch = epoch
    self.seed = seed
    self.version = version
    self.references = references
    self.models = ContiguousArray(models)
  }

  /// The tables of the model, or `nil` when the store has never seen it.
  func tables<M: Model>(of model: M.Type) throws -> ModelTables? {
    let type = ObjectIdentifier(model)
    for entry in models where ObjectIdentifier(entry.model) == type { return entry.tables }
    throw StoreError(.unknownModel, "the store was not opened with the model \(M.schema.name)")
  }

  /// Every model that the store has, with its tables.
  var tables: [ModelTables] { models.compactMap(\.tables) }
}
