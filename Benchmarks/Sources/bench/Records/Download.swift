import Foundation

/// A download record with the fields that decide its size and its traffic.
struct Download: Codable, Sendable, Hashable {
  /// One record in a hundred has it; it is what the indexed query asks for.
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

/// What a checkpoint of a running download changes.
struct Progress: Sendable {
  var url: String
  var received: Int64
  var updatedAt: Date
}
