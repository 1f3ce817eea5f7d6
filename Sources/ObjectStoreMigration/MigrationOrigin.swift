internal import ObjectStoreCore

/// An object before a migration, for errors.
struct MigrationOrigin {
  let object: MigratedObject
  let id: UInt64
}

extension MigrationFailure {
  init(_ origin: MigrationOrigin, step: String?, _ error: any Error) {
    self.init(
      model: origin.object.model,
      objectID: origin.id,
      primaryKey: origin.object.storedKey,
      step: step,
      reason: "\(error)"
    )
  }
}
