import Testing

@testable import DownloadSync

@Suite struct DiskSpaceMonitorTests {
  private let start = ContinuousClock.now
  private let much: Int64 = 1 << 40

  @Test func `a full volume is checked once per interval`() {
    var monitor = DiskSpaceMonitor()
    func due(after seconds: Int) -> [String] {
      monitor.due(at: start + .seconds(seconds), interval: .seconds(5)).map { "\($0)=\($1)" }
    }
    #expect(monitor.isEmpty && due(after: 100) == [])
    monitor.noteFull(7, folder: "/files", at: start)
    #expect(due(after: 4) == [])
    #expect(due(after: 5) == ["7=/files"])
    #expect(due(after: 9) == [])
    #expect(due(after: 10) == ["7=/files"])
  }

  @Test func `a volume is full until space is available, and checked until no download waits`() {
    var monitor = DiskSpaceMonitor()
    func mayStart(_ available: Int64, on volume: UInt64 = 7, isAwaited: Bool = false) -> Bool {
      monitor.note(available, on: volume, isAwaited: isAwaited)
    }
    monitor.noteFull(7, folder: "/files", at: start)
    #expect(!mayStart(0))
    #expect(!mayStart(DiskSpaceMonitor.reserve))
    #expect(mayStart(DiskSpaceMonitor.reserve + 1))
    #expect(monitor.folder(toCheckOn: 7) == "/files")
    #expect(mayStart(much, isAwaited: true))
    #expect(monitor.folder(toCheckOn: 7) == "/files")
    #expect(mayStart(much))
    #expect(monitor.folder(toCheckOn: 7) == nil && monitor.isEmpty)
    // Nothing is known about other volumes.
    #expect(mayStart(0, on: 8, isAwaited: true))
  }

  @Test func `a download must fit in addition to the running ones`() {
    let reserve = DiskSpaceMonitor.reserve
    #expect(DiskSpaceMonitor.fits(100, beside: [], available: 100 + reserve))
    #expect(!DiskSpaceMonitor.fits(101, beside: [], available: 100 + reserve))
    #expect(!DiskSpaceMonitor.fits(50, beside: [30, 21], available: 100 + reserve))
    #expect(DiskSpaceMonitor.fits(50, beside: [30, 20], available: 100 + reserve))
    #expect(!DiskSpaceMonitor.fits(nil, beside: [], available: DiskSpaceMonitor.usualSize))
    #expect(
      DiskSpaceMonitor.fits(nil, beside: [nil], available: 2 * DiskSpaceMonitor.usualSize + reserve)
    )
    #expect(!DiskSpaceMonitor.fits(.max, beside: [.max, 1], available: .max))
    #expect(!DiskSpaceMonitor.fits(0, beside: [], available: 0))
  }
}
