package import DownloadStore
internal import Foundation
package import ObjectStore

/// A part of the starting order: the stored downloads of one priority that wait for the same reason.
///
/// The compound index of `DownloadRecord` has the downloads of a lane in their starting order. None of
/// its fields is hot, so a checkpoint does not change it.
struct QueueLane: Sendable, Hashable {
  /// Why a download waits, in the order in which the downloads of a priority start.
  enum Kind: Int, Sendable, CaseIterable {
    /// It waits for a slot, or for its earliest start. Ordered by that time.
    case waiting
    /// It failed, and has no earliest start. Ordered by the time of the next attempt.
    case retry
    /// It failed, and has an earliest start. Ordered by that time.
    case postponedRetry

    var state: DownloadState { self == .waiting ? .waiting : .failedRetryable }
  }

  var startsImmediately: Bool
  var priority: Int32
  var kind: Kind

  init(startsImmediately: Bool, priority: Int32, kind: Kind) {
    self.startsImmediately = startsImmediately
    self.priority = priority
    self.kind = kind
  }

  /// The lane of a record that may start.
  init(_ record: DownloadRecord) {
    self.init(
      startsImmediately: record.startsImmediately,
      priority: record.priority,
      kind: record.state == .waiting
        ? .waiting : record.notBefore == nil ? .retry : .postponedRetry
    )
  }

  /// Whether the lane is in the order of the times at which its downloads may start, so that nothing
  /// after one that must still wait may start.
  var isInOrderOfTime: Bool { kind != .postponedRetry }

  /// Whether every download of the lane starts before a candidate.
  func isBefore(_ candidate: Scheduler.Candidate) -> Bool {
    if startsImmediately != candidate.startsImmediately { return startsImmediately }
    return candidate.wasSlow || priority > candidate.priority
  }
}

extension QueueLane: Comparable {
  static func < (left: Self, right: Self) -> Bool {
    if left.startsImmediately != right.startsImmediately { return left.startsImmediately }
    if left.priority != right.priority { return left.priority > right.priority }
    return left.kind.rawValue < right.kind.rawValue
  }
}

/// A position in the starting order of the downloads that the store contains.
struct QueuePosition: Sendable, Hashable {
  /// The lane to read next, or to read after; `nil` before the first.
  private(set) var lane: QueueLane?
  /// The last download of the lane that was read; `nil` at its start.
  private(set) var token: PageToken?
  /// Whether the lane was read to its end.
  private(set) var isAfterLane = false
  /// Whether downloads with an earliest start were read: a new download without one has an earlier
  /// position.
  private(set) var isTimed = false

  /// The position before all downloads.
  static let start = Self()

  private init() {}

  /// The position before the first download of a lane, or after the last one.
  init(_ lane: QueueLane, isAfterLane: Bool = false) {
    self.lane = lane
    self.isAfterLane = isAfterLane
  }

  init(_ lane: QueueLane, after token: PageToken, isTimed: Bool) {
    self.lane = lane
    self.token = token
    self.isTimed = isTimed
  }
}

extension QueuePosition: Comparable {
  static func < (left: Self, right: Self) -> Bool {
    guard let lane = left.lane, let other = right.lane else {
      return left.lane == nil && right.lane != nil
    }
    if lane != other { return lane < other }
    if left.isAfterLane || right.isAfterLane { return !left.isAfterLane }
    guard let token = left.token, let otherToken = right.token else {
      return left.token == nil && right.token != nil
    }
    return token.precedes(otherToken)
  }
}

/// Consecutive downloads of one lane.
struct QueuePage: Sendable {
  /// The records that may start, except for their times.
  var records: [DownloadRecord] = []
  /// Before the first record.
  var start: QueuePosition
  /// After the last record; `nil` if the store has no further ones.
  var next: QueuePosition?
}

extension ObjectReader where Self: ~Copyable {
  /// Returns the next downloads in starting order, at most `size`.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(size · log n) for n records in the store, plus O(log n) for each new lane.
  func queuePage(at position: QueuePosition, size: Int) throws -> QueuePage {
    var lane = position.lane
    if lane == nil || position.isAfterLane { lane = try self.lane(after: lane) }
    guard let lane else { return QueuePage(start: position) }
    let start = lane == position.lane ? position : QueuePosition(lane)
    let page = try page(
      lane.query.order(by: \.notBefore).order(by: \.nextRetryAt),
      size: size,
      after: start.token
    )
    let isTimed = page.objects.last.map { $0.notBefore != nil } ?? false
    return QueuePage(
      records: page.objects,
      start: start,
      next: page.next.map { QueuePosition(lane, after: $0, isTimed: isTimed) }
        ?? QueuePosition(lane, isAfterLane: true)
    )
  }

  /// Returns the first lane after another one, or of all, that has a download.
  private func lane(after last: QueueLane?) throws -> QueueLane? {
    if let last {
      for kind in QueueLane.Kind.allCases where kind.rawValue > last.kind.rawValue {
        var next = last
        next.kind = kind
        if try exists(next.query) { return next }
      }
    }
    for startsImmediately in [true, false] {
      if let last, last.startsImmediately != startsImmediately {
        // All lanes of downloads that start immediately come before the others.
        guard last.startsImmediately else { continue }
      }
      let bound = last?.startsImmediately == startsImmediately ? last?.priority : nil
      let priority = try DownloadState.awaitingStart
        .compactMap { try highestPriority($0, startsImmediately, below: bound) }
        .max()
      guard let priority else { continue }
      for kind in QueueLane.Kind.allCases {
        let lane = QueueLane(
          startsImmediately: startsImmediately,
          priority: priority,
          kind: kind
        )
        if try exists(lane.query) { return lane }
      }
    }
    return nil
  }

  private func highestPriority(
    _ state: DownloadState,
    _ startsImmediately: Bool,
    below bound: Int32?
  ) throws -> Int32? {
    var query = DownloadRecord.where {
      $0.state == state && $0.intent == .run && $0.isHeld == false
        && $0.startsImmediately == startsImmediately
    }
    if let bound { query = query.where { $0.priority < bound } }
    return try first(
      query.order(by: \.priority, .descending).order(by: \.notBefore, .descending)
        .order(by: \.nextRetryAt, .descending)
    )?.priority
  }
}

extension QueueLane {
  /// The downloads of the lane.
  var query: Query<DownloadRecord> {
    let query = DownloadRecord.where {
      $0.state == kind.state && $0.intent == .run && $0.isHeld == false
        && $0.startsImmediately == startsImmediately && $0.priority == priority
    }
    return switch kind {
    case .waiting: query
    case .retry: query.where { $0.notBefore == nil }
    case .postponedRetry: query.where { $0.notBefore != nil }
    }
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Returns the first downloads in the order in which an engine would start them, for lists.
  ///
  /// Downloads that wait for a time are in the place that they have once it has come.
  ///
  /// - Parameter limit: The maximum number of downloads.
  /// - Returns: The downloads.
  /// - Throws: `StoreError`.
  /// - Complexity: O(limit · log n) for n records in the store, plus O(log n) for each priority.
  package func queuedRecords(limit: Int) throws -> [DownloadRecord] {
    var records: [DownloadRecord] = []
    var position = QueuePosition?.some(.start)
    while let current = position, records.count < limit {
      let page = try queuePage(at: current, size: Swift.min(256, limit - records.count))
      records += page.records
      position = page.next
    }
    return records
  }
}
