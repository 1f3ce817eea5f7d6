import DownloadStore
import Testing

@testable import DownloadSync

/// What a process concludes from the identities of a file that it writes.
@Suite struct FileWatchTests {
  private func identity(_ size: Int64, modified: Int64 = 1) -> FileIdentity {
    FileIdentity(size: size, inode: 7, modified: modified)
  }

  @Test func `a change after a truncation does not hide it`() {
    var watch = FileWatch(identity(10))
    watch.compare(with: identity(5))
    #expect(watch.interference == .truncated)
    watch.compare(with: identity(5, modified: 2))
    #expect(watch.interference == .truncated)
    watch.noteVerified()
    #expect(watch.interference == .truncated && watch.hasInterference)
  }

  @Test func `while another write of this process runs, the time of the file says nothing`() {
    var watch = FileWatch(identity(10))
    watch.beginChange(of: identity(10))
    watch.beginChange(of: identity(10))
    watch.endChange(of: identity(20, modified: 2)) { _ in 20 }
    watch.compare(with: identity(20, modified: 3))
    #expect(watch.interference == nil)
    watch.endChange(of: identity(20, modified: 4)) { _ in 20 }
    watch.compare(with: identity(20, modified: 4))
    #expect(watch.interference == nil)
    watch.compare(with: identity(20, modified: 5))
    #expect(watch.interference == .changed)
  }

  @Test func `an empty file has no changed bytes, but may be another file`() {
    var watch = FileWatch(identity(10))
    watch.compare(with: identity(10, modified: 2))
    watch.noteEmptied()
    #expect(watch.interference == nil && !watch.hasInterference)
    watch.noteReplaced()
    watch.noteEmptied()
    #expect(watch.interference == .replaced && watch.hasInterference)
  }

  @Test func `a file that became longer may have been truncated before`() {
    var watch = FileWatch(identity(10))
    watch.compare(with: identity(10, modified: 2))
    #expect(watch.interference == .changed && !watch.isExtended)
    watch.compare(with: identity(11, modified: 3))
    #expect(watch.interference == .changed && watch.isExtended)
    watch.compare(with: identity(11, modified: 4))
    #expect(watch.isExtended)
    watch.noteVerified()
    #expect(!watch.isExtended)
    watch.compare(with: identity(12, modified: 4))
    watch.noteEmptied()
    #expect(!watch.isExtended)
  }

  @Test func `a look at the file while this process empties it notices nothing`() {
    var watch = FileWatch(identity(10))
    watch.beginChange(of: identity(10), truncatingTo: 0)
    watch.compare(with: identity(0, modified: 2))
    watch.endChange(of: identity(0, modified: 2)) { _ in 0 }
    #expect(watch.interference == nil && !watch.hasInterference)
    watch.compare(with: identity(0, modified: 2))
    #expect(watch.interference == nil)
  }

  @Test func `a truncation by another program is noticed before and after one by this process`() {
    var before = FileWatch(identity(10))
    before.beginChange(of: identity(4, modified: 2), truncatingTo: 0)
    #expect(before.interference == .truncated)

    var after = FileWatch(identity(10))
    after.beginChange(of: identity(10), truncatingTo: 0)
    after.endChange(of: identity(0, modified: 2)) { _ in 0 }
    after.beginChange(of: identity(0, modified: 2))
    after.endChange(of: identity(5, modified: 3)) { _ in 5 }
    after.compare(with: identity(3, modified: 4))
    #expect(after.interference == .truncated)
  }
}
