import DownloadStore
import ObjectStore
import Testing

@testable import DownloadServer

/// The pure values of aria2's JSON-RPC.
@Suite struct Aria2ValueTests {
  @Test(arguments: [
    (0, 2, 0..<2, false), (1, 10, 1..<5, false), (5, 1, 5..<5, false), (9, 1, 5..<5, false),
    (-1, 2, 3..<5, true), (-2, 1, 3..<4, true), (-1, 1_000, 0..<5, true), (-5, 1, 0..<1, true),
    (-6, 1, 0..<0, true), (Int.min, 3, 0..<0, true), (Int.max, Int.max, 5..<5, false),
    (-1, Int.max, 0..<5, true),
  ])
  func `a part of a list of five`(offset: Int, count: Int, range: Range<Int>, isReversed: Bool) {
    let part = ListPart(offset: offset, count: count, of: 5)
    #expect(part.range == range && part.isReversed == isReversed)
  }

  @Test func `a map has at most 1,024 pieces, of which one is set when all its bytes are there`() {
    #expect(PieceMap(size: nil).bits(of: ByteRanges(upTo: 9)) == nil)
    #expect(PieceMap(size: 0).count == 0)
    let small = PieceMap(size: 10)
    #expect(small.count == 1 && small.bits(of: ByteRanges(upTo: 9)) == "00")
    #expect(small.bits(of: ByteRanges(upTo: 10)) == "80")
    let mebibyte: Int64 = 1 << 20
    let map = PieceMap(size: 9 * mebibyte + 1)
    #expect(map.count == 10 && map.pieceLength == mebibyte)
    let ranges = ByteRanges([
      0..<mebibyte, (mebibyte + 1)..<(3 * mebibyte), (9 * mebibyte)..<(9 * mebibyte + 1),
    ])
    #expect(map.bits(of: ranges) == "a040")
    for size in [Int64(1) << 30, (Int64(1) << 30) + 1, 1 << 40, .max] {
      let map = PieceMap(size: size)
      #expect((1...1_024).contains(map.count), "\(size)")
      let bits = Hexadecimal.decode(map.bits(of: ByteRanges(upTo: size)) ?? "") ?? []
      #expect(bits.reduce(0) { $0 + $1.nonzeroBitCount } == Int(map.count))
    }
  }

  @Test func `a move keeps the order of the others`() {
    // All queues of up to four downloads with three priorities, all downloads, all positions.
    for length in 1...4 {
      for code in 0..<Int(81) {
        var (rest, priorities) = (code, [Int32]())
        for _ in 0..<length {
          priorities.append(Int32(rest % 3))
          rest /= 3
        }
        priorities.sort(by: >)
        let queue = priorities.enumerated().map { QueueMove.Entry(url: "\($0)", priority: $1) }
        for moved in queue {
          for target in -1...length {
            guard let move = QueueMove(of: moved, in: queue, to: target) else {
              Issue.record("no move")
              continue
            }
            let new = Dictionary(
              uniqueKeysWithValues: move.priorities.map { ($0.url, $0.priority) }
            )
            // The store's order: by priority, then by age.
            let order = queue.enumerated()
              .map { (index: $0, url: $1.url, priority: new[$1.url] ?? $1.priority) }
              .sorted { ($1.priority, $0.index) < ($0.priority, $1.index) }.map(\.url)
            var expected = queue.map(\.url).filter { $0 != moved.url }
            expected.insert(moved.url, at: min(max(target, 0), length - 1))
            #expect(order == expected, "\(priorities) \(moved.url) to \(target)")
            #expect(move.position == min(max(target, 0), length - 1))
          }
        }
      }
    }
  }

  @Test func `a move without a free priority is refused`() {
    let entry = { (url: String, priority: Int32) in QueueMove.Entry(url: url, priority: priority) }
    #expect(QueueMove(of: entry("b", 0), in: [entry("a", .max), entry("b", 0)], to: 0) == nil)
    #expect(QueueMove(of: entry("a", 0), in: [entry("a", 0), entry("b", .min)], to: 1) == nil)
  }

  @Test func `amounts are those of aria2`() throws {
    let amounts: [(String, Int64)] = [("0", 0), ("7", 7), ("2K", 2_048), ("3m", 3 << 20)]
    for (text, count) in amounts { #expect(try Aria2Options.byteCount(text, "x") == count) }
    for text in ["", "K", "-1", "1.5M", "99999999999999999999", "9223372036854775807K"] {
      #expect(throws: Aria2Error.self) { try Aria2Options.byteCount(text, "x") }
    }
  }

  @Test func `every failure has an exit status of aria2`() {
    for code in DownloadFailure.Code.allCases {
      #expect((1...32).contains(DownloadFailure(code, "").aria2Code))
    }
  }
}
