import Foundation

/// A download record with the fields that determine its size and how often it changes.
struct Download: Codable, Sendable, Hashable {
  /// The state of one record in a hundred; the indexed query searches for it.
  static let failed: UInt8 = 7

  var url: String
  var name: String
  var destination: String
  var type: String
  var entityTag: String?
  var tags: [String]
  var resumeBlob: Data?
  var state: UInt8
  var failedAttempts: Int32
  var createdAt: Date
  var completedAt: Date?

  var received: Int64
  var expected: Int64
  var updatedAt: Date
  var priority: Int32
}

/// The fields that a checkpoint of a running download changes.
struct Progress: Sendable {
  var url: String
  var received: Int64
  var updatedAt: Date
}
