internal import CLMDB

/// A named database in an environment: an ordered map from keys to values.
///
/// The value stays valid while its environment is open.
///
/// ```swift
/// let notes: Database = try transaction.createDatabase("notes")
/// let events = try transaction.createDatabase("events", keys: .integers)
/// let number = withUnsafeBytes(of: UInt64(7)) { bytes in Array(bytes) }
/// try transaction.put(value.span, for: number.span, in: events)
/// ```
public struct Database: Sendable, Hashable {
  /// The order of the keys of a database.
  public enum Keys: Sendable, Hashable {
    /// Lexicographic by bytes; a prefix comes first. A key has 1 to 511 bytes.
    case bytes
    /// By value, as native 64-bit unsigned integers.
    ///
    /// The corresponding C flag is `MDB_INTEGERKEY`.
    case integers
  }

  let handle: UInt32
  let environment: EnvironmentRegistry.Identity
  /// The name of the database.
  public let name: String

  init(handle: UInt32, name: String, environment: EnvironmentRegistry.Identity) {
    self.handle = handle
    self.name = name
    self.environment = environment
  }
}
