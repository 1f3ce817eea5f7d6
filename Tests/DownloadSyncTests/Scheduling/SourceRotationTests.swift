import DownloadStore
import Foundation
import RecordTestSupport
import TestTraits
import Testing

@testable import DownloadSync

@Suite struct SourceRotationTests {
  private let own = "https://example.com/a"
  private let mirrors = ["https://m1.example/a", "https://m2.example/a"]
  private let policy = RetryPolicy(maximumAttempts: 8, base: .seconds(4), cap: .seconds(60))

  /// Fails one attempt after another, and returns the requested URLs and the delays between them.
  private func life(
    mirrors: [String],
    _ codes: DownloadFailure.Code...,
    retryAfter: Duration? = nil
  ) -> (asked: [String], waits: [Duration?], next: String) {
    var record = DownloadRecord.sample(url: own, mirrors: mirrors)
    var asked: [String] = []
    var waits: [Duration?] = []
    for code in codes {
      asked.append(record.source)
      let failure = DownloadFailure(code, "")
      _ = record.fail(failure, from: record.source, at: record.createdAt) { _ in .zero }
      waits.append(
        SourceRotation.wait(
          after: failure,
          of: record,
          policy,
          retryAfter: retryAfter,
          random: 0.5
        )
      )
    }
    return (asked, waits, record.source)
  }

  @Test func `a single URL is retried as the policy says`() {
    let life = life(mirrors: [], .timedOut, .serverBusy, .notFound)
    #expect(life.asked == [own, own, own])
    #expect(life.waits == [.seconds(2), .seconds(4), nil])
  }

  @Test func `a source that is listed twice is one`() {
    let life = life(mirrors: [own, own], .timedOut, .serverBusy, .notFound)
    #expect(life.waits == [.seconds(2), .seconds(4), nil])
    let more = self.life(mirrors: [mirrors[0], own, mirrors[0]], .refused, .refused)
    #expect(more.asked == [own, mirrors[0]] && more.waits == [.zero, nil])
  }

  @Test(.requirements("ZF3"))
  func `mirrors are tried in order without delay, then the first URL after a delay`() {
    let life = life(mirrors: mirrors, .timedOut, .notFound, .connectionLost)
    #expect(life.asked == [own] + mirrors)
    #expect(life.waits == [.zero, .zero, .seconds(8)])
    #expect(life.next == own)
  }

  @Test func `a source that failed permanently is not requested again`() {
    let life = life(mirrors: mirrors, .notFound, .timedOut, .rejected, .timedOut, .timedOut)
    #expect(life.asked == [own, mirrors[0], mirrors[1], mirrors[0], mirrors[0]])
    #expect(life.waits.prefix(2) == [.zero, .zero])
    #expect(life.waits[2] == .seconds(8))
  }

  @Test func `the download fails when every source has failed permanently`() {
    let life = life(mirrors: mirrors, .notFound, .rejected, .refused)
    #expect(life.waits == [.zero, .zero, nil])
  }

  @Test func `a mirror on a server that requested a delay is delayed, too`() {
    let near = "https://example.com/b"
    #expect(
      life(mirrors: [near], .serverBusy, retryAfter: .seconds(30)).waits == [.seconds(30)]
    )
    #expect(life(mirrors: mirrors, .serverBusy, retryAfter: .seconds(30)).waits == [.zero])
  }

  @Test func `the first of two busy servers is asked again after the wait of the last one`() {
    let busy = life(mirrors: [mirrors[0]], .serverBusy, .serverBusy, retryAfter: .seconds(30))
    #expect(busy.waits == [.zero, .seconds(30)])
    let lost = life(mirrors: [mirrors[0]], .timedOut, .serverBusy, retryAfter: .seconds(30))
    #expect(lost.waits == [.zero, .seconds(4)])
  }

  @Test(arguments: [DownloadFailure.Code.fileSystem, .quarantined])
  func `a local failure does not try the next source`(code: DownloadFailure.Code) {
    #expect(life(mirrors: mirrors, code).waits == [nil])
  }

  @Test func `attempts are limited whatever the number of mirrors`() {
    var record = DownloadRecord.sample(url: own, mirrors: mirrors)
    var rounds = 0
    while rounds < 100 {
      rounds += 1
      let failure = DownloadFailure(.timedOut, "")
      _ = record.fail(failure, from: record.source, at: record.createdAt) { _ in .zero }
      let wait = SourceRotation.wait(
        after: failure,
        of: record,
        policy,
        retryAfter: nil,
        random: 0
      )
      guard wait != nil else { break }
    }
    #expect(rounds == 8)
  }

  @Test func `only failures since the last progress count`() {
    var record = DownloadRecord.sample(url: own, mirrors: mirrors)
    _ = record.fail(DownloadFailure(.notFound, ""), from: own, at: record.createdAt) { _ in .zero }
    record.failedAttempts = 0
    #expect(record.source == own)
    _ = record.fail(DownloadFailure(.connectionLost, ""), from: mirrors[0], at: record.createdAt) {
      _ in .zero
    }
    record.failedAttempts = 1
    #expect(record.source == mirrors[1])
  }

  @Test func `without a digest, an unencrypted mirror is the last resort of an encrypted file`() {
    let plain = "http://plain.example.com/a"
    var record = DownloadRecord.sample(url: own, mirrors: [plain, mirrors[0]])
    func fail(_ code: DownloadFailure.Code) {
      let failure = DownloadFailure(code, "")
      _ = record.fail(failure, from: record.source, at: record.createdAt) { _ in .zero }
    }
    fail(.timedOut)
    #expect(record.source == mirrors[0])
    fail(.timedOut)
    #expect(record.source == own)
    fail(.notFound)
    #expect(record.source == mirrors[0])
    fail(.notFound)
    #expect(record.source == plain)
    record.expectedDigest = "sha256:" + String(repeating: "0", count: 64)
    record.attempts = []
    record.failedAttempts = 0
    fail(.timedOut)
    #expect(record.source == plain)
  }

  @Test func `what shows that a mirror continues the file`() {
    let plain = "http://plain.example.com/a"
    func record(tag: String?, date: String? = nil, from source: String) -> DownloadRecord {
      var record = DownloadRecord.sample(url: own, mirrors: [mirrors[0], plain])
      record.entityTag = tag
      record.lastModified = date
      guard source != own else { return record }
      // The URLs before it have failed permanently.
      for url in [own, mirrors[0]].prefix(source == plain ? 2 : 1) {
        _ = record.fail(DownloadFailure(.notFound, ""), from: url, at: record.createdAt) { _ in
          .zero
        }
      }
      #expect(record.source == source)
      return record
    }
    let date = "Mon, 01 Jan 2024 00:00:00 GMT"
    #expect(record(tag: "\"1\"", from: own).hasProofAtSource)
    #expect(record(tag: "\"1\"", from: mirrors[0]).hasProofAtSource)
    #expect(!record(tag: "\"1\"", from: plain).hasProofAtSource)
    #expect(record(tag: nil, date: date, from: own).hasProofAtSource)
    #expect(!record(tag: nil, date: date, from: mirrors[0]).hasProofAtSource)
    #expect(!record(tag: nil, from: own).hasProofAtSource)
    // No server gets a validator that another one may have stated.
    #expect(record(tag: "\"1\"", from: own).resumeProof(with: nil) == .stated("\"1\""))
    var alone = record(tag: "\"1\"", from: own)
    alone.mirrors = []
    #expect(alone.resumeProof(with: nil).ifRange == "\"1\"")
    #expect(alone.resumeProof(with: nil, isConditional: false) == .stated("\"1\""))
    alone.expectedDigest = "md5:0"
    #expect(alone.resumeProof(with: nil) == .digest && alone.hasProofAtSource)
    #expect(alone.resumeProof(with: nil, trustsDigest: false).ifRange == "\"1\"")
  }

  @Test func `a mirror whose attempt met a full disk has not failed`() {
    var record = DownloadRecord.sample(url: own, mirrors: [mirrors[0]])
    func fail(_ code: DownloadFailure.Code) -> Duration? {
      let failure = DownloadFailure(code, "")
      return record.fail(failure, from: own, at: record.createdAt) { record in
        SourceRotation.wait(after: failure, of: record, policy, retryAfter: nil, random: 0)
      }
    }
    #expect(fail(.timedOut) == .zero)
    #expect(record.source == mirrors[0])
    record.take(
      .attemptDeferred(noting: DownloadFailure(.diskFull, ""), from: mirrors[0])
    )
    #expect(record.source == mirrors[0], "the disk is full for every source")
    #expect(fail(.notFound) != nil, "the mirror is left to try")
    #expect(record.source == mirrors[0])
  }

  @Test func `a link that is refused after it delivered bytes needs a new URL`() {
    var record = DownloadRecord.sample()
    let refused = DownloadFailure(.refused, "403 Forbidden")
    #expect(refused.afterProgress(of: record) == refused)
    (record.received, record.expected) = (40, 100)
    let failure = refused.afterProgress(of: record)
    #expect(failure.code == .needsURL && !failure.code.isRetryable)
    #expect(failure.message.contains("403 Forbidden") && failure.message.contains("40 bytes"))
    let other = DownloadFailure(.notFound, "")
    #expect(other.afterProgress(of: record) == other)
  }
}

/// Refusals that a request interceptor may answer with another URL.
@Suite struct RefusalRetryTests {
  private func waits(
    _ codes: [DownloadFailure.Code],
    maximumRefusals: Int32,
    mirrors: [String] = []
  ) -> [Duration?] {
    var record = DownloadRecord.sample()
    record.mirrors = mirrors
    var policy = RetryPolicy(maximumAttempts: 6, base: .seconds(4))
    policy.maximumRefusals = maximumRefusals
    return codes.map { code in
      let failure = DownloadFailure(code, "")
      // Each attempt follows the previous one, also if that was the last one.
      record.state = .running
      return record.fail(failure, from: record.source, at: record.createdAt) { [policy] record in
        SourceRotation.wait(after: failure, of: record, policy, retryAfter: nil, random: 0.5)
      }
    }
  }

  @Test func `a refusal is final unless another URL can be supplied`() {
    let codes: [DownloadFailure.Code] = [.refused, .needsURL, .notFound, .refused]
    #expect(waits(codes, maximumRefusals: 0) == [nil, nil, nil, nil])
    #expect(waits(codes, maximumRefusals: 3) == [.zero, .seconds(2), .seconds(4), nil])
    #expect(waits([.digestMismatch], maximumRefusals: 3) == [nil])
  }

  @Test func `refusals count towards the limit of attempts`() {
    let codes: [DownloadFailure.Code] =
      Array(repeating: .timedOut, count: 4) + [.refused, .refused]
    #expect(
      waits(codes, maximumRefusals: 3).map { $0 != nil } == [true, true, true, true, true, false]
    )
  }

  @Test func `a mirror is tried before a refused URL is asked for again`() {
    let waits = waits([.refused, .refused, .refused], maximumRefusals: 2, mirrors: ["https://m/"])
    #expect(waits == [.zero, .seconds(2), nil])
  }
}
