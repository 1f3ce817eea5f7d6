import Foundation
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct AmountsTests {
  @Test(arguments: [
    ("1", 1), ("500K", 512_000), ("500k", 512_000), ("2M", 2_097_152), ("1G", 1_073_741_824),
    ("1T", 1_099_511_627_776), ("1.5M", 1_572_864), ("1KB", 1024), ("2MiB", 2_097_152),
    ("2mb", 2_097_152), ("10B", 10), ("0.5K", 512), ("1.25", 1),
  ])
  func `rates are parsed`(text: String, count: Int64) {
    #expect(ByteAmount.parse(text) == count)
  }

  @Test(arguments: [
    "", "0", "0K", "-1", "K", "1KiBs", " 1", "9999999999G", "１", "1.", ".5M", "1.5.2M", "1iB", "B",
    "0.0000000001K", "1,5M", "1e3",
  ])
  func `an invalid rate is rejected`(text: String) {
    #expect(ByteAmount.parse(text) == nil)
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 KiB"), (1536, "1.5 KiB"), (102_400, "100 KiB"),
    (5_242_880, "5.0 MiB"), (Int64.max, "8.0 EiB"),
  ])
  func `byte counts are formatted with binary units`(count: Int64, text: String) {
    #expect(ByteAmount.text(count) == text)
  }

  @Test(arguments: [
    ("7d", 604_800), ("12h", 43_200), ("30m", 1800), ("45s", 45), ("0s", 0), ("1d12h", 129_600),
  ])
  func `durations are parsed`(text: String, seconds: Int64) {
    #expect(TimeSpan.parse(text) == seconds)
  }

  @Test(arguments: [
    "", "7", "d", "7x", "-1d", "1.5h", "7d ", "99999999999999999999d",
    "9223372036854775807d",
  ])
  func `an invalid duration is rejected`(text: String) {
    #expect(TimeSpan.parse(text) == nil)
  }

  @Test(arguments: [
    (0.0, "0:00"), (0.2, "0:01"), (59, "0:59"), (61, "1:01"), (3723, "1:02:03"),
    (172_800, "2 d"), (.infinity, "—"), (.nan, "—"), (-1, "—"), (-1e300, "—"), (1e300, "—"),
  ])
  func `durations are formatted like clock times`(seconds: Double, text: String) {
    #expect(TimeSpan.text(seconds) == text)
  }

  @Test(arguments: [
    ("5", Duration.seconds(5), "5s"), ("5s", .seconds(5), "5s"),
    ("1d12h", .seconds(129_600), "129600s"),
    ("500ms", .milliseconds(500), "500ms"), ("1.5", .milliseconds(1500), "1500ms"),
    ("1.5s", .milliseconds(1500), "1500ms"), ("2000ms", .seconds(2), "2s"),
    ("2m", .seconds(120), "120s"),
  ])
  func `a duration of an option may be a number of seconds`(
    text: String,
    duration: Duration,
    description: String
  ) {
    let span = SpanArgument(argument: text)
    #expect(span?.duration == duration && span?.description == description)
  }

  @Test(arguments: ["", "ms", "1.5ms", "-1", "5 s", "1,5s", "400d", "40000000", "s", "1.s"])
  func `an invalid duration of an option is rejected`(text: String) {
    #expect(SpanArgument(argument: text) == nil)
  }

  @Test func `dates are formatted in UTC with milliseconds`() {
    #expect(Timestamp.text(Date(timeIntervalSince1970: 0)) == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp.text(Date(timeIntervalSince1970: 1.25)) == "1970-01-01T00:00:01.250Z")
  }
}
