package import ObjectStoreModel

/// The models of the store, and the version of their schema.
package enum InventorySchema {
  /// Raised when a change needs a step, or must not be written over by earlier programs.
  package static let version: UInt32 = 1

  package static let models: [any Model.Type] = [Place.self, Item.self, Movement.self]
}
