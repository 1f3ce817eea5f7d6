import Testing

@testable import DownloadSync

@Suite struct VolumeRoomTests {
  private let start = ContinuousClock.now
  private let much: Int64 = 1 << 40

  @Test func `a full volume is looked at once an interval`() {
    var room = VolumeRoom()
    func due(after seconds: Int) -> [String] {
      room.due(at: start + .seconds(seconds), interval: .seconds(5)).map { "\($0)=\($1)" }
    }
    #expect(room.isEmpty && due(after: 100) == [])
    room.fill(7, folder: "/files", at: start)
    #expect(due(after: 4) == [])
    #expect(due(after: 5) == ["7=/files"])
    #expect(due(after: 9) == [])
    #expect(due(after: 10) == ["7=/files"])
  }

  @Test func `it is full until there is room, and watched until nobody waits for more`() {
    var room = VolumeRoom()
    func mayStart(_ available: Int64, on volume: UInt64 = 7, isAwaited: Bool = false) -> Bool {
      room.note(available, on: volume, isAwaited: isAwaited)
    }
    room.fill(7, folder: "/files", at: start)
    #expect(!mayStart(0))
    #expect(!mayStart(VolumeRoom.reserve))
    #expect(mayStart(VolumeRoom.reserve + 1))
    #expect(room.folder(toLookAtOn: 7) == "/files")
    #expect(mayStart(much, isAwaited: true))
    #expect(room.folder(toLookAtOn: 7) == "/files")
    #expect(mayStart(much))
    #expect(room.folder(toLookAtOn: 7) == nil && room.isEmpty)
    // Of others nothing is known.
    #expect(mayStart(0, on: 8, isAwaited: true))
  }

  @Test func `what starts must fit beside what runs`() {
    let reserve = VolumeRoom.reserve
    #expect(VolumeRoom.fits(100, beside: [], available: 100 + reserve))
    #expect(!VolumeRoom.fits(101, beside: [], available: 100 + reserve))
    #expect(!VolumeRoom.fits(50, beside: [30, 21], available: 100 + reserve))
    #expect(VolumeRoom.fits(50, beside: [30, 20], available: 100 + reserve))
    #expect(!VolumeRoom.fits(nil, beside: [], available: VolumeRoom.usualSize))
    #expect(VolumeRoom.fits(nil, beside: [nil], available: 2 * VolumeRoom.usualSize + reserve))
    #expect(!VolumeRoom.fits(.max, beside: [.max, 1], available: .max))
    #expect(!VolumeRoom.fits(0, beside: [], available: 0))
  }
}
