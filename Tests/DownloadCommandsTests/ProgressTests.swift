import Testing

@testable import DownloadCommands

struct ProgressTests {
  private let line = ProgressLine(
    name: "film.mkv",
    received: 5_242_880,
    expected: 10_485_760,
    speed: 1_048_576,
    remaining: 5
  )

  @Test func `a wide line has everything`() {
    #expect(TerminalText.width(line.text(width: 100)) == 100)
    #expect(line.text(width: 100).contains("[============            ]"))
    #expect(line.text(width: 100).contains("50%"))
    #expect(line.text(width: 100).contains("5.0 MiB/10.0 MiB"))
    #expect(line.text(width: 100).contains("1.0 MiB/s"))
    #expect(line.text(width: 100).contains("ETA 0:05"))
  }

  @Test(arguments: Array(1...200))
  func `a line is never wider than its terminal`(width: Int) {
    for name in ["a", "日本語のとても長い名前のファイル.zip", String(repeating: "x", count: 300)] {
      var line = line
      line.name = name
      #expect(TerminalText.width(line.text(width: width)) <= width)
      line.expected = nil
      line.speed = nil
      #expect(TerminalText.width(line.text(width: width)) <= width)
    }
  }

  @Test func `a narrow line keeps the name and the percentage`() {
    let text = line.text(width: 16)
    #expect(text.contains("film.mkv"))
    #expect(text.contains("50%"))
    #expect(!text.contains("ETA"))
  }

  @Test func `speed leaves out what was there before`() {
    let start = SuspendingClock.now
    var meter = TransferMeter()
    meter.note(1_000_000, at: start)
    #expect(meter.bytesPerSecond == nil)
    meter.note(1_001_000, at: start.advanced(by: .seconds(2)))
    #expect(meter.bytesPerSecond == 500)
    #expect(meter.remaining(of: 1_002_000) == 2)
    #expect(meter.remaining(of: nil) == nil)
  }

  @Test func `speed forgets what is long ago`() {
    let start = SuspendingClock.now
    var meter = TransferMeter()
    for second in 0...20 {
      meter.note(
        second < 10 ? 0 : Int64(second - 10) * 100,
        at: start.advanced(by: .seconds(second))
      )
    }
    #expect(meter.bytesPerSecond == 100)
  }

  @Test func `starting over starts the measurement over`() {
    let start = SuspendingClock.now
    var meter = TransferMeter()
    meter.note(1000, at: start)
    meter.note(0, at: start.advanced(by: .seconds(1)))
    #expect(meter.bytesPerSecond == nil)
    meter.note(100, at: start.advanced(by: .seconds(2)))
    #expect(meter.bytesPerSecond == 100)
  }
}
