import Foundation
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct AmountsTests {
  @Test(arguments: [
    ("1", 1), ("500K", 512_000), ("500k", 512_000), ("2M", 2_097_152), ("1G", 1_073_741_824),
    ("1T", 1_099_511_627_776),
  ])
  func `rates are parsed`(text: String, count: Int64) {
    #expect(ByteAmount.parse(text) == count)
  }

  @Test(arguments: ["", "0", "0K", "-1", "1.5M", "K", "1KB", " 1", "9999999999G", "１"])
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

  @Test func `dates are formatted in UTC with milliseconds`() {
    #expect(Timestamp.text(Date(timeIntervalSince1970: 0)) == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp.text(Date(timeIntervalSince1970: 1.25)) == "1970-01-01T00:00:01.250Z")
  }
}
