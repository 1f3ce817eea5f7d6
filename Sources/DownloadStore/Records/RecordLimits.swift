#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The bounds of numbers and texts that come from a document, an import or a caller.
///
/// Each is checked where the value enters, so that arithmetic on stored values cannot overflow: the
/// sum or the difference of several of them, and a product with a small factor, fit into the type.
package enum RecordLimits {
  /// The largest size of a file, and of a piece, in bytes: 1 EiB.
  package static let fileSize: Int64 = 1 << 60
  /// The largest generation: 2⁶².
  package static let generation: Int64 = 1 << 62
  /// The largest number of failed attempts, and of unresolved starts: 2³⁰.
  package static let count: Int32 = 1 << 30
  /// The largest number of mirrors of a download.
  ///
  /// Every commit of a record writes its mirrors, so a long list would slow down the transfer.
  package static let mirrors = 100
  /// The maximum length of a folder below its root in bytes.
  ///
  /// With the path of a root and a file name it fits into the 4,096 bytes of a path.
  package static let folderLength = 2_048
  /// The maximum length of the path of a root in bytes.
  package static let rootLength = 1_536

  /// The maximum length of a key in bytes.
  package static let keyLength = 1_024

  /// The maximum length of a tag in bytes.
  package static let tagLength = 256

  /// The time between two refreshes of a download in seconds: from a minute to a year.
  package static let refreshPeriod: ClosedRange<Int64> = 60...365 * 86_400

  /// The number of previous versions of a file that may be kept.
  ///
  /// Every commit of a record writes the list of them.
  package static let versionCount: ClosedRange<Int32> = 1...100

  /// Whether a value is the size of a file, or an offset in one.
  package static func isSize(_ value: Int64) -> Bool { (0...fileSize).contains(value) }

  /// Whether a value is a rate limit in bytes per second, or none.
  static func isRate(_ value: Int64?) -> Bool { (value ?? 1) > 0 }

  /// Whether a value is a number of connections, or none.
  static func isConnectionCount(_ value: Int32?) -> Bool { (value ?? 1) > 0 }

  /// Whether a value is the time between two refreshes in seconds, or none.
  static func isRefreshPeriod(_ value: Int64?) -> Bool {
    value.map(refreshPeriod.contains) ?? true
  }

  /// Whether a value is a number of previous versions, or none.
  static func isVersionCount(_ value: Int32?) -> Bool { value.map(versionCount.contains) ?? true }

  /// Throws if there are more mirrors than a download may have.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidRecord`.
  package static func requireMirrors(_ mirrors: [String]) throws(RecordStoreError) {
    let count = Set(mirrors.map(StoredText.init)).count
    guard count <= Self.mirrors else {
      throw RecordStoreError(
        .invalidRecord,
        "a download has at most \(Self.mirrors) mirrors, and \(count) are given"
      )
    }
  }

  /// Throws if a tag is too long.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidTag`.
  static func requireTags(_ tags: Set<String>) throws(RecordStoreError) {
    guard tags.allSatisfy({ $0.utf8.count <= tagLength }) else {
      throw RecordStoreError(.invalidTag, "a tag is longer than \(tagLength) bytes")
    }
  }

  /// Throws unless a value is a number of previous versions, or none.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidRecord`.
  static func requireVersionCount(_ value: Int32?) throws(RecordStoreError) {
    guard isVersionCount(value) else {
      throw RecordStoreError(
        .invalidRecord,
        "the number of previous versions is not from \(versionCount.lowerBound) to "
          + "\(versionCount.upperBound)"
      )
    }
  }

  /// Whether a date is in the years 1 to 9999.
  package static func isDate(_ date: Date) -> Bool {
    (-62_135_769_600...253_402_300_799).contains(date.timeIntervalSince1970)
  }
}
