import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct ConnectionsTests {
  private let mirror = "https://mirror.example.com/a"

  /// Performs every sequence of moves up to a length, and returns the number of transfers that ended.
  private func explore(_ start: ConnectionsModel, depth: Int) -> Int {
    var open = [(model: start, path: [ConnectionsModel.Move]())]
    var count = 0
    while let (model, path) = open.popLast() {
      guard model.finished == nil, path.count < depth else {
        if model.finished != nil { count += 1 }
        continue
      }
      for move in model.moves {
        var next = model
        next.perform(move)
        guard next.problems.isEmpty else {
          Issue.record("\(path + [move]): \(next.problems)")
          return count
        }
        open.append((next, path + [move]))
      }
    }
    return count
  }

  @Test(arguments: [0, 1])
  func `each transfer ends once, with its last connection, however these end`(mirrors: Int) {
    let limits = ConcurrencyLimits(maximumRunning: 3, maximumPerHost: 2)
    let model = ConnectionsModel(
      mirrors: Array(repeating: mirror, count: mirrors),
      limits,
      maximumConnections: 3
    )
    #expect(explore(model, depth: 3) > 10)
    for seed in 0..<200 {
      var random = SplitMix64(seed: UInt64(seed))
      var next = model
      var path: [ConnectionsModel.Move] = []
      while let move = next.moves.randomElement(using: &random), path.count < 200 {
        path.append(move)
        next.perform(move)
      }
      #expect(next.problems.isEmpty && next.finished != nil, "\(path)")
    }
  }

  private func reading(
    _ change: (inout Connections.Reading) -> Void = { _ in }
  )
    -> Connections.Reading
  {
    var reading = Connections.Reading(
      claims: [ConnectionPlan.Claim(number: 0, range: 0..<100, reserved: 0)],
      missing: ByteRanges(upTo: 100),
      requestURL: "https://example.com/a",
      validator: Validator(entityTag: "\"1\"", lastModified: nil),
      minimumLength: 10,
      limits: ConnectionLimits(ConcurrencyLimits(), beside: [])
    )
    change(&reading)
    return reading
  }

  @Test func `a file is split if its size and its version are known`() {
    #expect(reading().isSplittable)
    #expect(!reading { $0.missing = nil }.isSplittable)
    #expect(!reading { $0.hasProgressed = false }.isSplittable)
    #expect(!reading { $0.deliversRanges = false }.isSplittable)
    #expect(!reading { $0.rangeCount = ByteRanges.storedLimit }.isSplittable)
    #expect(!reading { $0.trust = .oneServer }.isSplittable)
    let weak = Validator(entityTag: "W/\"1\"", lastModified: nil)
    for validator in [nil, weak] {
      #expect(!reading { $0.validator = validator }.isSplittable)
      let hasDigest = reading {
        $0.validator = validator
        $0.hasRequiredDigest = true
      }
      #expect(hasDigest.isSplittable)
    }
  }

  @Test func `a mirror is used only if its bytes can be shown to belong to the file`() {
    func mirrors(
      _ trust: ServerTrust.Level,
      hasDigest: Bool,
      isStrong: Bool = true
    ) -> ConnectionSources.Mirrors {
      reading {
        $0.trust = trust
        $0.hasRequiredDigest = hasDigest
        if !isStrong { $0.validator = nil }
      }.usableMirrors
    }
    #expect(mirrors(.full, hasDigest: true) == .all)
    #expect(mirrors(.full, hasDigest: false) == .ofSameOrigin)
    #expect(mirrors(.full, hasDigest: false, isStrong: false) == .none)
    for trust in [ServerTrust.Level.oneServer, .equalValidators] {
      #expect(mirrors(trust, hasDigest: true) == .none)
    }
  }

  @Test func `a range must give the proof that the trust in the servers requires`() {
    let own = RangeProof.unchanged(reading().validator)
    #expect(reading().proof(fromFirst: true) == own)
    #expect(reading().proof(fromFirst: false) == .stated("\"1\""))
    for isFirst in [true, false] {
      func proof(_ trust: ServerTrust.Level) -> RangeProof {
        reading {
          $0.hasRequiredDigest = true
          $0.trust = trust
        }.proof(fromFirst: isFirst)
      }
      #expect(proof(.full) == .digest && proof(.oneServer) == .digest)
      #expect(proof(.equalValidators) == (isFirst ? own : .stated("\"1\"")))
    }
  }

  @Test func `trust in the servers of a download only decreases`() {
    var trust = ServerTrust()
    trust.limit("a", to: .equalValidators)
    trust.limit("a", to: .oneServer)
    trust.limit("b", to: .oneServer)
    #expect(["a", "b", "c"].map { trust[$0] } == [.equalValidators, .oneServer, .full])
  }

  @Test
  func `the first request is repeated once the sink asks for that, if the transfer continues`() {
    for mayContinue in [true, false] {
      for outcome in [nil, TransferResult.cancelled] {
        var connections = Connections(of: .sample())
        connections.noteFirst()
        if let outcome { connections.noteOutcome(outcome) }
        let end = Connections.End(
          connection: connections.close(0),
          result: .cancelled,
          asksAgain: true,
          mayContinue: mayContinue
        )
        let effects = connections.noteEnd(end, nil)
        #expect(effects == (mayContinue && outcome == nil ? [.askAgain] : [.finish(.cancelled)]))
      }
    }
  }

  @Test func `a file that needs no request ends without a connection`() {
    var connections = Connections(of: .sample())
    let end = Connections.End(connection: connections.close(0), result: .complete)
    #expect(connections.noteEnd(end, nil) == [.finish(.complete)])
  }

  @Test func `the first result of a transfer counts`() {
    var connections = Connections(of: .sample())
    connections.noteOutcome(.startOver(DownloadFailure(.entityChanged, "")))
    connections.noteOutcome(.complete)
    #expect(connections.outcome == .startOver(DownloadFailure(.entityChanged, "")))
  }

  @Test func `a transfer has the right to one connection, and to more below both limits`() {
    var split = SplitOptions(maximumConnections: 2)
    split.measuringTime = .zero
    var connections = Connections(of: .sample(), gaps: 2, split)
    func limited(_ running: Int, _ perHost: Int) -> Connections.Reading {
      let limits = ConcurrencyLimits(maximumRunning: running, maximumPerHost: perHost)
      return reading {
        $0.limits = ConnectionLimits(limits, beside: [connections])
        $0.claims = []
      }
    }
    // The connection that is closed leaves its bytes to the next one, because it was the last.
    var closed = connections
    let end = Connections.End(
      connection: Connections.Closed(number: 7, isReplaced: true),
      result: .cancelled
    )
    let sources = closed.noteEnd(end, limited(1, 1)).compactMap { effect in
      if case .open(let opening) = effect { opening.source } else { nil }
    }
    #expect(sources == [0])
    connections.noteFirst()
    func second(_ running: Int, _ perHost: Int) -> Int? {
      var next = connections
      return next.next(limited(running, perHost))?.source
    }
    #expect(second(2, 2) == 0)
    #expect(second(1, 2) == nil)
    #expect(second(2, 1) == nil)
  }

  /// Returns connections of which several are open.
  private func open(_ count: Int, mirrors: [String] = []) -> Connections {
    var split = SplitOptions(maximumConnections: count)
    split.measuringTime = .zero
    var connections = Connections(of: .sample(mirrors: mirrors), gaps: count, split)
    connections.noteFirst()
    while connections.openCount < count {
      let next = connections.next(
        reading {
          $0.hasRequiredDigest = true
          $0.claims = []
          $0.missing = ByteRanges(upTo: 100)
        }
      )
      guard next != nil else { break }
    }
    return connections
  }

  @Test func `the last connection ends while more are open than the limits allow`() {
    let progress = Connections.Progress(
      received: 0,
      isSplit: true,
      runningCount: 0,
      positions: [:],
      hasIdle: false
    )
    func ending(_ connections: Connections, _ running: Int, _ perHost: Int) -> [Int] {
      var connections = connections
      let limits = ConcurrencyLimits(maximumRunning: running, maximumPerHost: perHost)
      func turn() -> Connections.Turn {
        connections.noteTurn(
          progress,
          within: ConnectionLimits(limits, beside: [connections]),
          stallTime: .seconds(9),
          at: .now
        )
      }
      let ending = turn().ending
      #expect(turn().ending == [], "a connection is asked to end once")
      return ending
    }
    let own = open(3)
    #expect(own.openCount == 3 && own.count == 3)
    #expect(ending(own, 3, 3) == [])
    #expect(ending(own, 2, 3) == [2])
    #expect(ending(own, 3, 2) == [2])
    let both = open(3, mirrors: [mirror])
    #expect(both.mirrorCounts == ["https://mirror.example.com:443": 1] && both.count == 3)
    #expect(ending(both, 3, 2) == [])
    #expect(ending(both, 3, 1) == [2])
    #expect(both.last(to: "https://mirror.example.com:443") == 1)
  }

  @Test func `if all connections have stalled, one is replaced until bytes arrive`() {
    let start = ContinuousClock.now
    var connections = open(1)
    func stalled(at second: Int, received: Int64) -> [Int] {
      defer {
        // The one that was asked to end is replaced.
        if connections.isEnding(0) {
          _ = connections.close(0)
          connections.noteFirst()
        }
      }
      return connections.noteTurn(
        Connections.Progress(
          received: received,
          isSplit: true,
          runningCount: 1,
          positions: [0: received],
          hasIdle: false
        ),
        within: ConnectionLimits(ConcurrencyLimits(), beside: [connections]),
        stallTime: .seconds(5),
        at: start.advanced(by: .seconds(second))
      ).ending
    }
    #expect(stalled(at: 0, received: 0) == [])
    #expect(stalled(at: 5, received: 0) == [0])
    #expect(stalled(at: 6, received: 0) == [])
    #expect(stalled(at: 20, received: 0) == [])
    #expect(stalled(at: 21, received: 1) == [])
    #expect(stalled(at: 26, received: 1) == [0])
  }
}
