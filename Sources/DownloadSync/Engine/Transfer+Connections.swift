internal import DownloadStore
internal import Foundation
internal import SystemInterface

// The connections of a transfer: which of them writes which bytes.

extension Transfer {
  /// What follows from bytes that a connection has received.
  enum Taken: Sendable, Hashable {
    /// The connection continues.
    case proceed
    /// The connection has no bytes left to write.
    case done
    /// The bytes could not be written.
    case failed(DownloadFailure)
    /// The body is longer than the response has declared.
    case excess(DownloadFailure)
  }

  /// Writes the bytes of a connection that are its own, and skips the others.
  func take(_ bytes: Span<UInt8>, of number: Int) -> Taken {
    var start = 0
    while start < bytes.count {
      switch state.withLock({ $0.claims.next(number, bytes.count - start) }) {
      case .write(let range):
        let piece = bytes.extracting(start..<start + range.count)
        if let failure = write(piece, at: range.lowerBound) { return .failed(failure) }
        start += range.count
        let isDone = state.withLock { state in
          if number > 0 { state.fetched[number, default: ByteRanges()].insert(range) }
          return state.claims.noteWritten(number)
        }
        if isDone { return .done }
      case .skip(let count):
        start += count
        // Another connection costs less than bytes that are received twice.
        let asks = state.withLock { state in
          let asks = !state.hasAskedForHeir && state.claims.spare != nil
          if asks { state.hasAskedForHeir = true }
          return asks
        }
        if asks { inbox.post(.progressed(key)) }
      case .end: return .done
      case .excess:
        let end = state.withLock { $0.claims[number]?.responseEnd ?? 0 }
        return .excess(
          DownloadFailure(.wrongLength, "the body is longer than declared: it ends before \(end)")
        )
      }
    }
    return .proceed
  }

  /// The offset of the next byte of each task, by number.
  var positions: [Int: Int64] { state.withLock { $0.claims.positions } }
  /// What a task would reach only after a long skip, and none was requested for; `nil` if there is
  /// nothing.
  var spare: Range<Int64>? { state.withLock { $0.claims.spare } }
  /// Whether a task writes nothing, because another one takes over its bytes, or has done so.
  var hasIdle: Bool { state.withLock { $0.claims.hasIdle } }

  /// The ranges that the tasks fetch, for a file of the given size.
  func claims(ofSize total: Int64) -> [ConnectionPlan.Claim] {
    state.withLock { $0.claims.ranges(ofSize: total) }
  }

  /// Notes that a further task requests a range.
  ///
  /// - Parameters:
  ///   - range: The range.
  ///   - number: The task.
  ///   - isSpare: Whether the task takes over what another one would reach only after a long skip.
  func request(_ range: Range<Int64>, for number: Int, isSpare: Bool = false) {
    state.withLock { state in
      if isSpare {
        state.claims.requestSpare(range, for: number)
      } else {
        state.claims.request(range, for: number)
      }
    }
  }

  /// Gives a further task the range that it has requested, because its response has arrived.
  ///
  /// - Parameters:
  ///   - number: The task.
  ///   - head: The head of its response, which has the range.
  ///   - range: The bytes of the response.
  /// - Returns: Whether any byte of the range was left.
  func accept(_ number: Int, _ head: ResponseHead, _ range: Range<Int64>) -> Bool {
    noteMix(with: head)
    return state.withLock { state in
      // Read while no other task can take or write a byte.
      state.claims.accept(
        number,
        from: range.lowerBound,
        to: range.upperBound,
        written: file.written
      )
    }
  }

  /// The bytes from the first one that a task has left to write, up to the last one; empty if none.
  func left(_ number: Int) -> Range<Int64> {
    state.withLock { $0.claims.left(number, ofSize: $0.entity.total) }
  }

  /// Notes that a task has ended; the others take over its bytes.
  func close(_ number: Int) {
    state.withLock { state in
      state.claims.close(number)
      state.fetched[number] = nil
    }
  }

  /// Uncounts the bytes that a further task has written, because its response contradicts itself.
  func distrust(_ number: Int) {
    let bytes = state.withLock { $0.fetched.removeValue(forKey: number) ?? ByteRanges() }
    // Before they are noted, so that a sync that begins after that does not have them.
    for range in bytes.ranges { file.discard(range) }
    state.withLock { state in
      state.distrusted = state.distrusted.union(bytes)
      state.distrustedSinceSync = state.distrustedSinceSync.union(bytes)
      state.unrecorded = state.unrecorded.union(bytes)
      state.hasNewDistrust = !state.distrusted.isEmpty
      for range in bytes.ranges { state.claims.distribute(range) }
    }
  }

  /// Whether a checkpoint has something to commit.
  var needsCheckpoint: Bool {
    file.unsynced > 0 || state.withLock { $0.hasNewDistrust }
      || file.interference.map { $0 > .changed } ?? false
  }

  /// Takes note of a checkpoint, which uncounts the distrusted bytes.
  ///
  /// - Returns: The distrusted bytes that were not written again before the last ``synchronize()``.
  func takeDistrusted() -> ByteRanges {
    state.withLock { state in
      state.hasNewDistrust = false
      return state.distrusted
    }
  }

  /// Whether the last first task has ended because its request needs to be repeated without
  /// `If-Range`.
  var asksAgain: Bool { state.withLock { $0.asksAgain && $0.entity.entityTag != nil } }

  /// Makes the transfer ready for another first task with a request without `If-Range`.
  ///
  /// - Returns: Whether the last one has ended for that reason.
  func beginAgain() -> Bool {
    state.withLock { state in
      guard state.asksAgain, let tag = state.entity.entityTag else { return false }
      (state.asksAgain, state.finding, state.hasFinished) = (false, nil, false)
      state.proof = .stated(tag)
      state.claims.open(0, PartClaim(ByteRanges(CollectionOfOne(offset..<Int64.max)), from: offset))
      return true
    }
  }
}
