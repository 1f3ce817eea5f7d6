#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Computes an object's primary key, in its stored form, from the fields whose values it repeats.
package typealias ComputedKey = (borrowing RecordView) throws(RecordError) -> [UInt8]

extension Model {
  /// Computes a compound primary key; `nil` if the key is a field of its own.
  ///
  /// A compound key is stored as data without being `Data`.
  static var computedKey: ComputedKey? {
    guard PrimaryKey.fieldType == .data, PrimaryKey.self != Data.self else { return nil }
    return { record throws(RecordError) in try Self(from: record).primaryKey.storedBytes }
  }
}
