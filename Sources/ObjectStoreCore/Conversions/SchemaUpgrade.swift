package import LMDB

/// The steps of a program that lead stores of earlier schema versions to its own.
///
/// Opening, reading and the background use the steps only through this protocol, so they need no
/// code of migrations. `Migration` is its only implementation.
package protocol SchemaUpgrade: Sendable {
  /// Whether outdated records are also converted in the background.
  var convertsInBackground: Bool { get }
  /// The maximum number of objects that a transaction converts.
  var batchCount: Int { get }
  /// Called after each change of a file of the store.
  var didWrite: (@Sendable () -> Void)? { get }

  /// Whether a step leads from one version to a later one.
  func hasSteps(after stored: UInt32, upTo own: UInt32) -> Bool

  /// Whether one of these steps changes the objects of a model.
  func changes(_ model: String, after stored: UInt32, upTo own: UInt32) -> Bool

  /// Returns why these steps must be applied before the store can be used; `nil` if records can be
  /// converted when they are read.
  func obstacle(
    toConvertingAfter stored: UInt32,
    upTo own: UInt32,
    _ models: [any Model.Type],
    _ metadata: Metadata,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> String?

  /// Marks the layouts whose records these steps convert when they are read.
  ///
  /// - Precondition: There is no obstacle.
  func beginConverting(
    after stored: UInt32,
    upTo own: UInt32,
    _ models: [any Model.Type],
    _ metadata: Metadata,
    in transaction: inout WriteTransaction
  ) throws

  /// Returns the conversion of the records of an outdated layout to the program's model.
  func conversion(
    of layout: RecordLayout,
    _ outdated: OutdatedLayouts.Version,
    to own: RecordLayout,
    _ schema: ModelSchema,
    version: UInt32,
    defaults: StoredDefaults
  ) -> RecordConversion

  /// Applies all steps to the closed store in a folder, if it still needs one.
  func migrate(
    _ path: String,
    _ models: [any Model.Type],
    _ options: StoreOptions,
    _ log: StoreLog?
  ) throws
}

extension StoreOptions {
  /// Whether a store with a schema version needs a step of the program.
  func needsSteps(after stored: UInt32) -> Bool {
    upgrade?.hasSteps(after: stored, upTo: schemaVersion) ?? false
  }
}
