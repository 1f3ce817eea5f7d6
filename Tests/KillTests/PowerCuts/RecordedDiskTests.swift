import TestSupport
import Testing

/// The model of a disk that loses power, with small handwritten recordings.
struct RecordedDiskTests {
  private static let path = "/disk/a"
  private static let open = SystemCall(.open(path: path, inode: 1))
  private static let syncBegan = SystemCall(.syncBegan(inode: 1, path: path))
  private static let syncEnded = SystemCall(.syncEnded(inode: 1, path: path))

  private static func write(_ text: String, at offset: Int = 0, durably: Bool = false) -> SystemCall
  {
    SystemCall(
      .write(inode: 1, offset: offset, bytes: Array(text.utf8), isDurable: durably),
      modified: Int64(offset) + 1
    )
  }

  /// Returns every possible content of the file after power cuts, over many seeds; `nil` for no
  /// file.
  private func outcomes(_ calls: [SystemCall], defect: RecordedDisk.Defect? = nil) -> Set<String?> {
    var disk = RecordedDisk(defect: defect)
    for call in calls { disk.apply(call) }
    var outcomes: Set<String?> = []
    for seed in 0..<300 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let file = disk.cut(using: &random).files[Self.path]
      outcomes.insert(file.map { String(decoding: $0.bytes, as: UTF8.self) })
    }
    return outcomes
  }

  @Test func `a write without a sync may be lost together with the name`() {
    #expect(outcomes([Self.open, Self.write("ab")]) == [nil, "", "ab", "\0\0"])
  }

  @Test func `a sync makes content and name durable`() {
    let calls = [Self.open, Self.write("ab"), Self.syncBegan, Self.syncEnded]
    #expect(outcomes(calls) == ["ab"])
    #expect(outcomes(calls, defect: .fileSyncs) == [nil, "", "ab", "\0\0"])
  }

  @Test func `a sync that has not returned makes nothing durable`() {
    #expect(
      outcomes([Self.open, Self.write("ab"), Self.syncBegan]) == [nil, "", "ab", "\0\0"]
    )
  }

  @Test func `a sync does not cover a write that begins during it`() {
    let calls = [
      Self.open, Self.write("ab"), Self.syncBegan, Self.write("cd", at: 2), Self.syncEnded,
    ]
    #expect(outcomes(calls) == ["ab", "abcd", "ab\0\0"])
  }

  @Test func `a sector keeps a prefix of its writes`() {
    let calls = [Self.open, Self.write("..."), Self.syncBegan, Self.syncEnded]
    // A content that was never in the page cache, such as "..c", is never on disk either.
    #expect(
      outcomes(calls + [Self.write("a"), Self.write("b", at: 1), Self.write("c", at: 2)])
        == ["...", "a..", "ab.", "abc"]
    )
  }

  @Test func `sectors are lost independently`() {
    let half = String(repeating: "-", count: 512)
    let calls = [
      Self.open, Self.write(half + half), Self.syncBegan, Self.syncEnded,
      Self.write(half.replacing("-", with: "+") + half.replacing("-", with: "+")),
    ]
    #expect(Set(outcomes(calls).map { $0.map { [$0.first, $0.last] } }).count == 4)
  }

  @Test func `a durable write covers its own bytes and no earlier ones`() {
    let calls = [
      Self.open, Self.write(String(repeating: ".", count: 1_024)), Self.syncBegan, Self.syncEnded,
      Self.write("a"), Self.write("b", at: 512, durably: true),
    ]
    let firsts = outcomes(calls).map { text in
      text.map { [$0.first, $0.dropFirst(512).first] }
    }
    #expect(Set(firsts) == [[".", "b"], ["a", "b"]])
    let without = outcomes(calls, defect: .durableWrites).map { text in
      text.map { [$0.first, $0.dropFirst(512).first] }
    }
    #expect(Set(without).count == 4)
  }

  @Test func `a sync does not revert a later durable write`() {
    let calls = [
      Self.open, Self.write("old"), Self.syncBegan, Self.write("new", durably: true),
      Self.syncEnded,
    ]
    #expect(outcomes(calls) == ["new"])
  }

  @Test func `a truncation without a sync may be lost`() {
    let calls = [
      Self.open, Self.write("abcd"), Self.syncBegan, Self.syncEnded,
      SystemCall(.truncate(inode: 1, size: 2)),
    ]
    #expect(outcomes(calls) == ["abcd", "ab", "ab\0\0"])
    #expect(outcomes(calls + [Self.syncBegan, Self.syncEnded]) == ["ab"])
  }

  @Test func `a new name is durable after a sync of its folder`() {
    let calls = [
      Self.open, Self.write("ab"), Self.syncBegan, Self.syncEnded,
      SystemCall(.link(old: Self.path, new: "/disk/b")), SystemCall(.unlink(path: Self.path)),
    ]
    func names(_ calls: [SystemCall], _ defect: RecordedDisk.Defect? = nil) -> Set<[String]> {
      var disk = RecordedDisk(defect: defect)
      for call in calls { disk.apply(call) }
      return Set(
        (0..<100 as Range<UInt64>).map { seed in
          var random = SplitMix64(seed: seed)
          return disk.cut(using: &random).files.keys.sorted()
        }
      )
    }
    #expect(names(calls) == [["/disk/a"], ["/disk/a", "/disk/b"], ["/disk/b"]])
    let synced =
      calls + [
        SystemCall(.folderSyncBegan(path: "/disk")), SystemCall(.folderSyncEnded(path: "/disk")),
      ]
    #expect(names(synced) == [["/disk/b"]])
    #expect(names(synced, .folderSyncs) == names(calls))
  }

  @Test func `a rename is durable as a whole or not at all`() {
    let calls = [
      Self.open, Self.write("ab"), Self.syncBegan, Self.syncEnded,
      SystemCall(.rename(old: Self.path, new: "/disk/b")),
    ]
    #expect(outcomes(calls) == ["ab", nil])
    #expect(outcomes(calls + [Self.syncBegan, Self.syncEnded]) == [nil])
  }

  @Test func `a reused inode number belongs to a new file`() {
    let calls = [
      Self.open, Self.write("ab"), Self.syncBegan, Self.syncEnded,
      SystemCall(.unlink(path: Self.path)), Self.open, Self.write("c"), Self.syncBegan,
      Self.syncEnded,
    ]
    #expect(outcomes(calls) == ["c"])
  }

  @Test func `a sync makes the parent folders of a file durable`() {
    let calls = [
      SystemCall(.makeFolder(path: "/disk")), Self.open, Self.write("ab"), Self.syncBegan,
      Self.syncEnded,
    ]
    var disk = RecordedDisk()
    for call in calls { disk.apply(call) }
    for seed in 0..<50 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      #expect(disk.cut(using: &random).folders == ["/disk"])
    }
  }

  @Test func `the system call in progress at a power cut is not durable`() {
    var disk = RecordedDisk()
    disk.apply(Self.open)
    disk.apply(Self.write("ab"))
    disk.apply(Self.syncBegan)
    disk.apply(Self.syncEnded)
    disk.apply(Self.write("cd", durably: true), isPending: true)
    var outcomes: Set<String> = []
    for seed in 0..<50 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      guard let file = disk.cut(using: &random).files[Self.path] else { continue }
      outcomes.insert(String(decoding: file.bytes, as: UTF8.self))
    }
    #expect(outcomes == ["ab", "cd"])
  }
}
