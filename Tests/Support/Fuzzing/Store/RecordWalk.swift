package import DownloadStore
internal import Foundation

/// Runs the code that computes with the numbers of a record, so that an overflow ends the process.
package enum RecordWalk {
  private static let failure = DownloadFailure(.connectionLost, "lost")

  /// Applies every event and change to a record, each to a copy of its own.
  package static func run(_ record: DownloadRecord) {
    let moment = Date(timeIntervalSince1970: 1_800_000_000)
    let identity = FileIdentity(size: 5, inode: 1, modified: 1)
    let commands: [DownloadCommand] = [
      .pause, .resume(immediately: true), .resume(immediately: false), .cancel, .restart, .refresh,
      .remove(withFile: true),
    ]
    let events: [DownloadRecord.Event] =
      commands.map(DownloadRecord.Event.command) + [
        .addedAgain, .moved(to: "http://h/other"), .imported(keepingBytes: true),
        .started(keepingBytes: true), .started(keepingBytes: false), .taskAdopted(entityTag: "t"),
        .transferContinued, .interrupted(isHeld: true),
        .attemptFailed(.init(failure, from: record.url) { _ in .seconds(1) }),
        .attemptFailed(.init(failure, from: record.url, droppingBytes: true) { _ in nil }),
        .attemptDeferred(noting: failure, from: record.url),
        .unattended(.init(after: .alone, maximumCrashes: 3, source: record.url)),
        .notModified, .fileLost, .pauseCarriedOut, .cancellationCarriedOut(),
        .fileComplete(.init(identity)),
        .completed(marking: [.completion]), .fileAdopted(identity), .fileRejected(requiring: nil),
        .fileDamaged(
          .init(keeping: ByteRanges(upTo: 5), replacing: identity, partial: identity)
        ),
      ]
    for event in events {
      // A state in which the event may occur, besides that of the record.
      let accepting = DownloadStatus.all.first {
        TransitionTable.entry(for: event.kind, in: $0) != .illegal
      }
      for status in [record.status, accepting].compactMap({ $0 }) {
        var copy = record
        for _ in 0..<2 {
          (copy.state, copy.intent) = (status.state, status.intent)
          _ = try? copy.apply(event, at: moment)
        }
        examine(copy)
      }
    }
    let transitions: [(inout DownloadRecord) -> Void] = [
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
      { $0.adoptBytes(ByteRanges(upTo: 5), of: 9, file: identity, at: moment) },
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
