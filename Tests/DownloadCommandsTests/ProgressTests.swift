import DownloadStore
import TestTraits
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct ProgressTests {
  private let line = ProgressLine(
    name: "film.mkv",
    estimate: ProgressEstimate(
      received: 5_242_880,
      expected: 10_485_760,
      bytesPerSecond: 1_048_576
    )
  )

  @Test func `a wide line has every column`() {
    #expect(TerminalText.width(line.text(width: 100)) == 100)
    #expect(line.text(width: 100).contains("[==============              ]"))
    #expect(line.text(width: 100).contains("50%"))
    #expect(line.text(width: 100).contains("5.0 MiB/10.0 MiB"))
    #expect(line.text(width: 100).contains("1.00 MiB/s"))
    #expect(line.text(width: 100).contains("ETA 0:05"))
  }

  @Test func `the bar of a file with gaps shows where its bytes are`() {
    var line = line
    line.estimate.expected = 28
    line.estimate.received = 13
    line.ranges = [0..<7, 14..<20]
    #expect(line.text(width: 100).contains("[=======       ======        ]"))
    line.estimate.expected = 280
    line.estimate.received = 6
    line.ranges = [9..<15]
    #expect(line.text(width: 100).contains("[--                          ]"))
    line.estimate.expected = 2
    line.ranges = [1..<2]
    #expect(line.text(width: 100).contains("[              ==============]"))
    for width in 1...100 { #expect(TerminalText.width(line.text(width: width)) <= width) }
  }

  @Test(arguments: Array(1...200))
  func `a line is never wider than its terminal`(width: Int) {
    for name in ["a", "日本語のとても長い名前のファイル.zip", String(repeating: "x", count: 300)] {
      var line = line
      line.name = name
      #expect(TerminalText.width(line.text(width: width)) <= width)
      line.estimate.expected = nil
      line.estimate.bytesPerSecond = nil
      #expect(TerminalText.width(line.text(width: width)) <= width)
    }
  }

  @Test(arguments: [
    (39, "film.mkv             50%     1.00 MiB/s"),
    (59, "film.mkv   50%   5.0 MiB/10.0 MiB     1.00 MiB/s  ETA 0:05 "),
    (79, "film.mkv  [========        ]   50%   5.0 MiB/10.0 MiB     1.00 MiB/s  ETA 0:05 "),
  ])
  func `a line without room for all columns has no bar`(width: Int, text: String) {
    #expect(line.text(width: width) == text)
  }

  @Test func `a narrow line has the percentage, the speed, the time and the name first`() {
    var line = line
    line.name = "a-film-of-the-year.mkv"
    #expect(line.text(width: 59).hasPrefix("a-film-of-the-year.mkv  "))
    #expect(line.text(width: 59).hasSuffix(" 50%     1.00 MiB/s  ETA 0:05 "))
  }

  @Test func `a narrow line of a file of unknown size shows how much has arrived`() {
    var line = line
    line.name = "a-film-of-the-year.mkv"
    line.estimate.expected = nil
    let text = line.text(width: 59)
    #expect(text.contains("5.0 MiB") && text.contains("1.00 MiB/s") && !text.contains("ETA"))
  }

  @Test func `a narrow line keeps the name and the percentage`() {
    let text = line.text(width: 16)
    #expect(text.contains("film.mkv"))
    #expect(text.contains("50%"))
    #expect(!text.contains("ETA"))
  }

  @Test func `unknown values are not shown`() {
    var line = line
    line.estimate.expected = nil
    #expect(line.text(width: 100).contains("--%"))
    #expect(line.text(width: 100).contains("ETA --"))
    // An expected size below the received bytes is ignored.
    line.estimate.expected = 7
    #expect(line.text(width: 100).contains("--%"))
  }

  @Test(
    .requirements("ZY56"),
    arguments: [
      (0.0, "0 B/s"), (0.9, "0 B/s"), (1023.9, "1023 B/s"), (1024, "1.00 KiB/s"),
      (1536, "1.50 KiB/s"), (1_048_575, "1023.99 KiB/s"), (1_048_576, "1.00 MiB/s"),
      (1_100_000, "1.04 MiB/s"), (123_456_789, "117.73 MiB/s"), (-5, "0 B/s"),
      (.infinity, "953674316406.25 MiB/s"),
    ]
  )
  func `a speed of one kibibyte per second or more has two decimals`(speed: Double, text: String) {
    #expect(Speed.text(speed) == text)
  }

  @Test(arguments: [
    (0.0, "     0 B/s"), (512, "   512 B/s"), (999, "   999 B/s"), (1000, "0.97 KiB/s"),
    (1536, "1.50 KiB/s"), (10_239.9, "9.99 KiB/s"), (12_650, "12.3 KiB/s"),
    (102_399, "99.9 KiB/s"), (1_023_999, " 999 KiB/s"), (1_024_000, "0.97 MiB/s"),
    (1_048_576, "1.00 MiB/s"), (123_456_789, " 117 MiB/s"), (2e9, "1.86 GiB/s"),
    (.infinity, " 888 PiB/s"), (-5, "     0 B/s"),
  ])
  func `a speed in a column always has ten characters`(speed: Double, text: String) {
    #expect(Speed.column(speed) == text && text.count == Speed.columnWidth)
  }
}
