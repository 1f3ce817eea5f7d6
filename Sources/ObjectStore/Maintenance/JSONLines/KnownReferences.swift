internal import LMDB

/// What refers to what, as of one epoch of a store.
struct KnownReferences {
  let epoch: UInt64
  let references: FollowedReferences
  private let metadata: Metadata

  init(_ environment: Environment) throws {
    self = try ObjectStore.readStored(environment) { transaction, schema in
      KnownReferences(
        epoch: schema.epoch,
        references: try FollowedReferences(schema, in: transaction),
        metadata: schema.metadata
      )
    }
  }

  private init(epoch: UInt64, references: FollowedReferences, metadata: Metadata) {
    (self.epoch, self.references, self.metadata) = (epoch, references, metadata)
  }

  /// Whether the store still says so.
  func isCurrent(in transaction: borrowing ReadTransaction) throws -> Bool {
    try metadata.integer(MetadataKey.epoch, in: transaction) == epoch
  }
}
