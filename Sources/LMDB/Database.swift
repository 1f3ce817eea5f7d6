internal import CLMDB

/// A named database: an ordered map from keys to values, inside an environment.
///
/// A value of this type stays valid as long as its environment is open.
public struct Database: Sendable, Hashable {
  /// How the keys of a database compare.
  public enum Keys: Sendable, Hashable {
    /// As strings of bytes, shorter first. One to 511 bytes.
    case bytes
    /// As native 64-bit unsigned integers. The corresponding C flag is `MDB_INTEGERKEY`.
    case integers
  }

  let handle: UInt32
  let environment: EnvironmentRegistry.Identity
  /// The name.
  public let name: String

  init(handle: UInt32, name: String, environment: EnvironmentRegistry.Identity) {
    self.handle = handle
    self.name = name
    self.environment = environment
  }
}
