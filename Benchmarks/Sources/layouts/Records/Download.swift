import Foundation

/// A download record with the fields that decide its size and its traffic.
struct Download: Sendable, Hashable {
  var url: String
  var id: String
  var filename: String
  var folder: String
  var destination: String
  var type: String
  var entityTag: String?
  var tags: Set<String>
  var resumeBlob: Data?

  var progress: Progress
  var expected: Int64?
  var generation: Int64
  var createdAt: Date
  var completedAt: Date?
  var nextRetryAt: Date?
  var priority: Int32
  var failedAttempts: Int32
  var state: UInt8
  var intent: UInt8
  var isHeldByHand: Bool
  var hasHeaders: Bool

  /// What a checkpoint of a running download changes.
  struct Progress: Sendable, Hashable {
    var received: Int64
    var updatedAt: Date
    var resolvedBytes: Int64
    var unresolvedStarts: Int32
  }
}
