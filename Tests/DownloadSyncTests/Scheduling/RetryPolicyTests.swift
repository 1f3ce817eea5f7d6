import DownloadStore
import RecordTestSupport
import TestSupport
import TestTraits
import Testing

@testable import DownloadSync

@Suite struct RetryPolicyTests {
  static let retryable: Set<DownloadFailure.Code> = [
    .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .serverBusy, .wrongLength,
    .entityChanged, .pieceMismatch, .badResponse, .fileInUse, .outOfResources, .fileUnavailable,
    .unknown,
  ]

  @Test(.requirements("ZY67", "FK37"), arguments: DownloadFailure.Code.allCases)
  func `only failures that may be temporary are retried`(
    code: DownloadFailure.Code
  ) {
    #expect(code.isRetryable == Self.retryable.contains(code))
    let wait = RetryPolicy().wait(afterFailures: 1, code, random: 0.5)
    #expect((wait != nil) == Self.retryable.contains(code))
    let asked = RetryPolicy().wait(afterFailures: 1, code, retryAfter: .seconds(1), random: 0)
    #expect((asked != nil) == Self.retryable.contains(code))
  }

  @Test(arguments: [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 64)])
  func `the longest delay doubles with each failure`(failures: Int32, seconds: Int64) {
    let policy = RetryPolicy()
    #expect(
      policy.wait(afterFailures: failures, .timedOut, random: 0.5) == .seconds(seconds) * 0.5
    )
    #expect(policy.wait(afterFailures: failures, .timedOut, random: 0) == .zero)
  }

  @Test func `there is no retry after the maximum number of failures`() {
    let policy = RetryPolicy(maximumAttempts: 3)
    #expect(policy.wait(afterFailures: 2, .timedOut, random: 0) != nil)
    #expect(policy.wait(afterFailures: 3, .timedOut, random: 0) == nil)
    #expect(policy.wait(afterFailures: .max, .timedOut, random: 0) == nil)
    #expect(RetryPolicy(maximumAttempts: 0).wait(afterFailures: 0, .timedOut, random: 0) == nil)
  }

  /// A download of a command that a user waits for, after the given failures.
  private func limited(
    after codes: DownloadFailure.Code...,
    received: Int64 = 0,
    policy: RetryPolicy = RetryPolicy()
  ) -> RetryPolicy {
    var policy = policy
    policy.firstContactAttempts = 2
    var record = DownloadRecord.sample()
    if received > 0 { (record.received, record.expected) = (received, 100) }
    for code in codes {
      _ = record.fail(DownloadFailure(code, ""), from: record.url, at: record.createdAt) { _ in
        Duration.zero
      }
    }
    return policy.applied(to: record)
  }

  @Test func `a server that does not speak TLS was not reached`() {
    for (detail, attempts) in [
      (DownloadFailure.Detail.noTLS, 2), (.mayExpectTLS, 2), (nil, 8),
    ] {
      var policy = RetryPolicy()
      policy.firstContactAttempts = 2
      var record = DownloadRecord.sample()
      let failure = DownloadFailure(.connectionLost, "", detail: detail)
      _ = record.fail(failure, from: record.url, at: record.createdAt) { _ in Duration.zero }
      #expect(policy.applied(to: record).maximumAttempts == attempts)
    }
  }

  @Test(arguments: [(DownloadFailure.Code.connectionLost, 2), (.timedOut, 8)])
  func `a proxy that does not answer was not reached, unless the server may be slow`(
    _ code: DownloadFailure.Code,
    _ attempts: Int
  ) {
    var policy = RetryPolicy()
    policy.firstContactAttempts = 2
    var record = DownloadRecord.sample()
    let failure = DownloadFailure(code, "", detail: .proxy)
    _ = record.fail(failure, from: record.url, at: record.createdAt) { _ in Duration.zero }
    #expect(policy.applied(to: record).maximumAttempts == attempts)
  }

  @Test func `a server that was never reached is given up after two attempts, within seconds`() {
    for code in [DownloadFailure.Code.cannotFindHost, .cannotConnect] {
      let policy = limited(after: code)
      #expect(policy.maximumAttempts == 2)
      #expect(policy.wait(afterFailures: 1, code, random: 0.999).map { $0 <= .seconds(2) } == true)
      #expect(policy.wait(afterFailures: 2, code, random: 0) == nil)
      let slow = limited(after: code, policy: RetryPolicy(base: .seconds(60)))
      #expect(slow.wait(afterFailures: 1, code, random: 0.999).map { $0 <= .seconds(2) } == true)
      // Without the limit, as in a service, the download is patient.
      #expect(RetryPolicy().wait(afterFailures: 7, code, random: 0) != nil)
    }
    #expect(limited(after: .cannotConnect, .cannotFindHost).maximumAttempts == 2)
    #expect(
      limited(after: .cannotConnect, policy: RetryPolicy(maximumAttempts: 1)).maximumAttempts == 1
    )
  }

  @Test(arguments: DownloadFailure.Code.allCases)
  func `a server that was reached gets all attempts`(_ code: DownloadFailure.Code) {
    let isUnreachable = [.cannotFindHost, .cannotConnect].contains(code)
    #expect((limited(after: code) == RetryPolicy.limitedOnly) == !isUnreachable)
    #expect(limited(after: code, received: 1) == RetryPolicy.limitedOnly)
    // It has answered before the network was lost.
    #expect((limited(after: code, .cannotConnect) == RetryPolicy.limitedOnly) == !isUnreachable)
  }

  @Test func `bytes of another program are no sign that a server was reached`() {
    var policy = RetryPolicy()
    policy.firstContactAttempts = 2
    var record = DownloadRecord.sample()
    record.adoptBytes(ByteRanges(upTo: 10), of: nil, file: nil, at: record.createdAt)
    #expect(policy.applied(to: record).maximumAttempts == 2)
    record.validatorOrigin = "https://example.com"
    #expect(policy.applied(to: record) == policy)
  }

  @Test func `a refusal for good leaves two attempts for a mirror that was never reached`() {
    var policy = RetryPolicy()
    policy.firstContactAttempts = 2
    var record = DownloadRecord.sample()
    let mirror = "https://mirror.example/a"
    record.mirrors = [mirror]
    for (code, source, attempts) in [
      (DownloadFailure.Code.notFound, record.url, 8), (.cannotConnect, mirror, 3),
      (.cannotConnect, mirror, 3), (.timedOut, mirror, 8), (.cannotConnect, mirror, 8),
    ] {
      _ = record.fail(DownloadFailure(code, ""), from: source, at: record.createdAt) { _ in
        Duration.zero
      }
      #expect(policy.applied(to: record).maximumAttempts == attempts, "\(code)")
    }
  }

  @Test func `a command waits ten minutes for a server and a service a day`() {
    func wait(_ asked: Int64, patience: Duration?) -> Duration? {
      var policy = RetryPolicy()
      policy.longestAwaitedServerWait = patience
      return policy.wait(
        afterFailures: 1,
        .serverBusy,
        retryAfter: .seconds(asked),
        random: 0
      )
    }
    #expect(wait(600, patience: .seconds(600)) == .seconds(600))
    #expect(wait(601, patience: .seconds(600)) == nil)
    #expect(wait(3_600, patience: nil) == .seconds(3_600))
  }

  @Test func `no delay that no server requests exceeds the cap`() {
    let policy = RetryPolicy(maximumAttempts: .max, base: .seconds(2), cap: .seconds(10))
    for failures in [4, 5, 31, 32, 33, 1_000, Int32.max - 1] {
      let wait = policy.wait(afterFailures: failures, .timedOut, random: 0.999)
      #expect(wait.map { $0 > .seconds(9) && $0 < .seconds(10) } == true)
    }
  }

  @Test(arguments: [(3_600, 3_600), (86_400, 86_400), (86_401, 86_400), (31_536_000, 86_400)])
  func `a server may ask for a day`(asked: Int64, seconds: Int64) {
    let wait = RetryPolicy().wait(
      afterFailures: 1,
      .serverBusy,
      retryAfter: .seconds(asked),
      random: 0.999
    )
    #expect(wait == .seconds(seconds))
  }

  @Test func `the delay is at least what the server requests`() {
    let policy = RetryPolicy(base: .seconds(8))
    func wait(_ asked: Int64, _ random: Double) -> Duration? {
      policy.wait(afterFailures: 1, .serverBusy, retryAfter: .seconds(asked), random: random)
    }
    #expect(wait(5, 0) == .seconds(5))
    #expect(wait(5, 0.25) == .seconds(5))
    #expect(wait(5, 0.75) == .seconds(6))
    #expect(wait(0, 0.25) == .seconds(2))
    #expect(wait(-5, 0) == .zero)
  }

  @Test func `delays are spread between zero and the bound`() {
    let policy = RetryPolicy(maximumAttempts: 100)
    var random = SplitMix64(seed: 1)
    for failures in [Int32.min, -1, 0, 1, 5, 50] {
      let waits = (0..<200).compactMap { _ in
        policy.wait(
          afterFailures: failures,
          .connectionLost,
          random: Double.random(in: 0..<1, using: &random)
        )
      }
      let doublings = failures > 1 ? min(Int(failures) - 1, 30) : 0
      let bound = min(Duration.seconds(300), .seconds(1) * (1 << doublings))
      #expect(waits.count == 200)
      #expect(waits.allSatisfy { $0 >= .zero && $0 < bound })
      #expect(waits.contains { $0 < bound * 0.25 } && waits.contains { $0 > bound * 0.75 })
    }
  }
}

extension RetryPolicy {
  /// The default policy with the limit for servers that were never reached, not applied.
  fileprivate static var limitedOnly: RetryPolicy {
    var policy = RetryPolicy()
    policy.firstContactAttempts = 2
    return policy
  }
}
