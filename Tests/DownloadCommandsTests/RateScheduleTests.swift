import ArgumentParser
import Foundation
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

@Suite struct RateScheduleTests {
  @Test func `the first window that contains the time applies`() throws {
    let schedule = try RateSchedule("08:00-18:00=2M,12:00-13:00=none,22:00-06:00=500K")
    func rate(_ time: String) throws -> Int64? {
      schedule.bytesPerSecond(
        atMinute: try #require(ClockTime.minute(time[...])),
        otherwise: 7
      )
    }
    #expect(try rate("07:59") == 7)
    #expect(try rate("08:00") == 2 << 20)
    #expect(try rate("12:30") == 2 << 20)
    #expect(try rate("17:59") == 2 << 20)
    #expect(try rate("18:00") == 7)
    #expect(try rate("22:00") == 500 << 10)
    #expect(try rate("23:59") == 500 << 10)
    #expect(try rate("00:00") == 500 << 10)
    #expect(try rate("05:59") == 500 << 10)
    #expect(try rate("06:00") == 7)
    let open = try RateSchedule("12:00-13:00=none,08:00-18:00=2M")
    #expect(open.bytesPerSecond(atMinute: 750, otherwise: 7) == nil)
    let day = try RateSchedule("00:00-24:00=1K")
    #expect((0..<1440).allSatisfy { day.bytesPerSecond(atMinute: $0, otherwise: nil) == 1024 })
  }

  @Test func `the limit changes only at a boundary`() throws {
    let schedule = try RateSchedule("08:00-18:00=2M,22:30-06:00=none,00:00-01:00=1K")
    for second in stride(from: 0, to: 86_400, by: 59) {
      let rest = schedule.secondsToBoundary(afterSecond: second)
      #expect((1...86_400).contains(rest))
      let now = schedule.bytesPerSecond(atMinute: second / 60, otherwise: 7)
      let before = schedule.bytesPerSecond(
        atMinute: (second + rest - 1) % 86_400 / 60,
        otherwise: 7
      )
      #expect(now == before, "between \(second) and \(second + rest)")
    }
    #expect(try RateSchedule("08:00-18:00=2M").secondsToBoundary(afterSecond: 18 * 3600) == 50_400)
  }

  @Test(
    arguments: [
      "", "08:00", "08:00-18:00", "08:00-18:00=", "08:00-18:00=0K", "8-18=2M", "08:00-08:00=2M",
      "24:00-06:00=2M", "08:60-18:00=2M", "08:00-25:00=2M", "08:00-18:00=2M,", "08:00-18:00=2M=3M",
      "08:0-18:00=2M", "-1:00-18:00=2M",
    ]
  )
  func `a window that is wrong is a usage error`(text: String) {
    #expect(throws: ValidationError.self) { try RateSchedule(text) }
    #expect(throws: (any Error).self) { try RunCommand.parse(["--limit-schedule", text]) }
  }

  @Test func `the second of the day is that of the local clock`() throws {
    let zone = try #require(TimeZone(secondsFromGMT: 3600))
    let date = Date(timeIntervalSince1970: 86_400 * 20_000 + 3_723)
    #expect(RateFollower.secondOfDay(date, in: zone) == 7_323)
  }
}

@Suite struct EarliestStartTests {
  private let zone = TimeZone(secondsFromGMT: 7200)
  /// 2026-01-31T10:00:00Z, 12:00 local time.
  private let now = Date(timeIntervalSince1970: 1_769_853_600)

  @Test(
    arguments: [
      ("2026-01-31T10:00:00Z", 0), ("2026-01-31T12:00:00+02:00", 0),
      ("2026-01-31T10:00:00.500Z", 0.5), ("2026-01-31T12:00", 0), ("2026-01-31T12:00:30", 30),
      ("2026-02-01", 43_200), ("12:01", 60), ("12:00", 86_400), ("11:59", 86_340),
    ] as [(String, TimeInterval)]
  )
  func `times are ISO 8601, or the next time of the local clock`(
    text: String,
    seconds: TimeInterval
  ) throws {
    let date = try EarliestStart.date(text, now: now, timeZone: try #require(zone))
    #expect(date.timeIntervalSince(now) == seconds)
  }

  @Test(
    arguments: [
      // The clock goes from 02:00 to 03:00, which is 01:00 UTC.
      ("2027-03-28T01:59", 1_806_195_540), ("2027-03-28T02:00", 1_806_195_600),
      ("2027-03-28T02:30:00", 1_806_197_400), ("2027-03-28T03:30:00", 1_806_197_400),
    ] as [(String, TimeInterval)]
  )
  func `a time that the local clock skips is later by the skipped time`(
    text: String,
    time: TimeInterval
  ) throws {
    let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
    let date = try EarliestStart.date(text, now: now, timeZone: zone)
    #expect(date.timeIntervalSince1970 == time)
  }

  @Test(
    arguments: [
      "", "soon", "24:00", "2026-13-01", "2026-02-30T00:00", "2026-01-31T25:00:00", "26-01-31",
      "2026-01-31T", "2026-01-31T10", "2026-01-31T10:00:00:00", "1769853600",
      // Days and times that do not exist, and years that no record has.
      "2026-02-30T00:00:00Z", "2026-02-29", "2026-01-31T25:61:61Z", "2026-01-31T24:00:00Z",
      "2026-01-31T10:60:00+01:00", "2026-01-31T10:00:60Z", "2026-01-31T10:00:00+24:00",
      "2026-01-31T10:00:00Zulu", "99999-01-01T00:00:00Z", "99999-01-01", "0000-01-01",
      "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00",
    ]
  )
  func `anything else is a usage error`(text: String) {
    #expect(throws: ValidationError.self) { try EarliestStart.date(text, now: now) }
  }
}
