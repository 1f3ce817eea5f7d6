package import DownloadStore
internal import Foundation

/// Runs the code that computes with the numbers of a record, so that an overflow ends the process.
package enum RecordWalk {
  private static let failure = DownloadFailure(.connectionLost, "lost")

  /// Applies every command and transition to a record, each to a copy of its own.
  package static func run(_ record: DownloadRecord) {
    let moment = Date(timeIntervalSince1970: 1_800_000_000)
    let identity = FileIdentity(size: 5, inode: 1, modified: 1)
    let commands: [DownloadCommand] = [
      .pause, .resume(immediately: true), .resume(immediately: false), .cancel, .restart,
      .remove(withFile: true),
    ]
    for command in commands { _ = record.applying(command) }
    let transitions: [(inout DownloadRecord) -> Void] = [
      { $0.start(keepingBytes: true, at: moment) },
      { $0.start(keepingBytes: false, at: moment) },
      { $0.adoptTask(at: moment) },
      { $0.continueTransfer() },
      { $0.interrupt(at: moment) },
      { $0.dropBytes() },
      { $0.rollBack(to: 3, at: moment) },
      { $0.recount(ByteRanges(upTo: 3), of: nil, at: moment) },
      { $0.startEntity(total: 9, entityTag: nil, lastModified: nil, at: moment) },
      {
        $0.checkpoint(
          ByteRanges([4..<9]),
          damaged: ByteRanges(upTo: 2),
          total: 9,
          entityTag: nil,
          lastModified: nil,
          at: moment
        )
      },
      { _ = $0.fail(failure, from: $0.url, at: moment) { _ in .seconds(1) } },
      { _ = $0.fail(failure, from: $0.url, at: moment, droppingBytes: true) { _ in nil } },
      { $0.deferAttempt(noting: failure, from: $0.url, at: moment) },
      {
        $0.requeue(
          as: .waiting,
          after: .alone,
          maximumCrashes: 3,
          source: $0.url,
          at: moment
        )
      },
      { $0.finishCancellation() },
      { $0.finishPause() },
      {
        $0.finalize(
          identity,
          entityTag: nil,
          lastModified: nil,
          verifiedDigest: nil,
          at: moment
        )
      },
      { $0.complete(marking: [.completion], at: moment) },
      { $0.adoptFile(identity, at: moment) },
      { $0.adoptBytes(ByteRanges(upTo: 5), of: 9, file: identity, at: moment) },
      {
        $0.repair(
          keeping: ByteRanges(upTo: 5),
          replacing: identity,
          file: identity,
          at: moment
        )
      },
      { $0.move(to: "http://h/other") },
      { $0.addAgain() },
      { $0.restartCompleted(requiring: nil) },
      { $0.postpone(until: moment) },
    ]
    for transition in transitions {
      var copy = record
      transition(&copy)
      // Twice: the first one may have reached the end of a range of numbers.
      transition(&copy)
      examine(copy)
    }
    examine(record)
  }

  private static func examine(_ record: DownloadRecord) {
    let committed = record.committed
    _ = committed.byteCount
    _ = "\(committed)"
    _ = committed.gaps(in: 0..<max(1, record.expected ?? .max))
    _ = committed.union(ByteRanges(upTo: 7)).encoded
    _ = FileInspection.compare(5, committed: committed, whole: record.expected)
    let layout = FileLayout(record: record, storeID: "0123456789abcdef", rootPath: "/none")
    _ = FileInspection(of: record, in: layout)
    _ = FileStatus(of: record, in: layout)
    var tally = GroupTally()
    tally["a"] = GroupTally.Member(record)
    tally["b"] = GroupTally.Member(record)
    _ = tally.progress.estimate.percentage
    let estimate = ProgressEstimate(
      received: record.received,
      expected: record.expected,
      bytesPerSecond: 0.5
    )
    _ = (estimate.percentage, estimate.remaining)
  }

  /// Uses the digests of pieces as a transfer does.
  package static func run(_ pieces: PieceDigests) {
    let count = pieces.count
    for piece in [0, 1, count / 2, count - 1] where (0..<max(1, count)).contains(piece) {
      guard count > 0 else { continue }
      _ = pieces.range(of: piece)
      _ = pieces.finding([1], of: piece)
    }
    for range in [0..<1, 1..<Int64.max, 0..<Int64.max, Int64.max - 1..<Int64.max]
    where count <= 1 << 20 {
      _ = pieces.pieces(in: ByteRanges([range]))
    }
    _ = RequiredPieces(
      byteCount: pieces.byteCount,
      pieceLength: pieces.pieceLength,
      digests: []
    )
  }
}
