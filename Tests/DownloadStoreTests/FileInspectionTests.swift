import DownloadStore
import Foundation
import SystemInterface
import TestSupport
import TestTraits
import Testing

@Suite struct FileInspectionTests {
  let fixture: StoreFixture
  let url = "https://example.com/a.bin"

  init() throws {
    fixture = try StoreFixture()
  }

  private func facts(
    received: Int64 = 0,
    expected: Int64? = nil,
    partial: String? = nil
  ) throws -> FileInspection {
    try fixture.add(url)
    let record = try fixture.change(url) { record in
      record.received = received
      record.expected = expected
    }
    let layout = try fixture.layout(of: record)
    if let partial { try fixture.write(partial, to: layout.partialPath) }
    return FileInspection(of: record, in: layout)
  }

  @Test func `missing files are reported as missing`() throws {
    #expect(try facts() == FileInspection(final: .missing, partial: .missing, partialSize: 0))
  }

  @Test func `a partial file that cannot be examined is not reported missing`() throws {
    try fixture.add(url)
    let record = try fixture.change(url) { $0.received = 4 }
    // A symbolic link to itself: examining its target fails with ELOOP.
    let loop = "\(fixture.folder.path)/loop"
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    let layout = FileLayout(record: record, storeID: "store", rootPath: loop)
    let facts = FileInspection(of: record, in: layout)
    let expected = FileInspection(
      final: .mismatch,
      isFinalUnknown: true,
      partial: .equal,
      partialSize: 4
    )
    #expect(facts == expected)
    var completed = record
    completed.state = .completed
    #expect(FileStatus(of: completed, files: facts) == .missing, "nothing shows a change")
    #expect(FileStatus(of: completed, in: layout) == .missing)
  }

  @Test(
    arguments: [
      // received, expected, size, result
      (4, nil, 4, .equal),
      (4, 9, 4, .equal),
      (4, nil, 5, .longer),
      (4, 9, 9, .longer),
      (4, nil, 3, .shorter),
      (4, 9, 0, .shorter),
      (9, 9, 9, .complete),
      (4, 9, 10, .over),
      (9, 9, 10, .over),
      (0, nil, 0, .equal),
      (0, 0, 0, .complete),
      (0, nil, 3, .longer),
    ] as [(Int64, Int64?, Int, FileInspection.Partial)]
  )
  func `a partial file is compared with the committed and the expected byte count`(
    received: Int64,
    expected: Int64?,
    size: Int,
    partial: FileInspection.Partial
  ) throws {
    let found = try facts(
      received: received,
      expected: expected,
      partial: String(repeating: "x", count: size)
    )
    #expect(
      found
        == FileInspection(
          final: .missing,
          partial: partial,
          partialSize: Int64(size),
          partialIdentity: found.partialIdentity
        )
    )
  }

  @Test(
    arguments: [
      // received, modified after the last write in seconds, result
      (4, -3_600, false), (4, 0, false), (4, 30, false), (4, 31, true), (4, 86_400, true),
      // There is nothing that could be changed.
      (0, 86_400, false),
    ] as [(Int64, Double, Bool)]
  )
  func `a partial file that was modified noticeably after the last write counts as changed`(
    received: Int64,
    delay: Double,
    isChanged: Bool
  ) throws {
    try fixture.add(url)
    let record = try fixture.change(url) { record in
      record.received = received
      record.partialWrittenAt = fixture.now
    }
    let layout = try fixture.layout(of: record)
    try fixture.write("body", to: layout.partialPath)
    try setModified(layout.partialPath, fixture.now + delay)
    let found = FileInspection(of: record, in: layout)
    #expect(found.partialIdentity?.modificationDate == fixture.now + delay)
    #expect(found.isPartialChanged == isChanged)
  }

  @Test(
    arguments: [
      // modified after the checkpoint in seconds, whether it is the same inode, result
      (0, true, false), (-30, true, false), (-31, true, true), (-86_400, true, true),
      (30, true, false), (31, true, true), (0, false, true), (5, false, true), (-5, false, true),
    ] as [(Double, Bool, Bool)]
  )
  func `a partial file that was replaced since the last checkpoint counts as changed`(
    delay: Double,
    isSame: Bool,
    isChanged: Bool
  ) throws {
    try fixture.add(url)
    var record = try fixture.change(url) { $0.received = 4 }
    let layout = try fixture.layout(of: record)
    try fixture.write("body", to: layout.partialPath)
    try setModified(layout.partialPath, fixture.now)
    record.partialIdentity = FileIdentity(ofFileAt: layout.partialPath)
    record.partialWrittenAt = fixture.now
    if !isSame {
      try fixture.write("evil", to: layout.partialPath + "-other")
      #expect(rename(layout.partialPath + "-other", layout.partialPath) == 0)
    }
    try setModified(layout.partialPath, fixture.now + delay)
    #expect(FileInspection(of: record, in: layout).isPartialChanged == isChanged)
    record.received = 0
    #expect(!FileInspection(of: record, in: layout).isPartialChanged)
  }

  @Test func `a partial file whose last write is unknown does not count as changed`() throws {
    try fixture.add(url)
    let record = try fixture.change(url) { $0.received = 4 }
    let layout = try fixture.layout(of: record)
    try fixture.write("body", to: layout.partialPath)
    #expect(!FileInspection(of: record, in: layout).isPartialChanged)
  }

  @Test func `a partial file with a second name counts as shared`() throws {
    try fixture.add(url)
    let record = try fixture.change(url) { $0.received = 4 }
    let layout = try fixture.layout(of: record)
    try fixture.write("body", to: layout.partialPath)
    #expect(!FileInspection(of: record, in: layout).isPartialShared)
    try FileManager.default.linkItem(atPath: layout.partialPath, toPath: layout.finalPath)
    #expect(FileInspection(of: record, in: layout).isPartialShared)
  }

  @Test func `the comparison covers every combination of sizes`() {
    for size in Int64(0)...4 {
      for committed in Int64(0)...4 {
        for whole in [nil, 0, 1, 2, 3, 4] as [Int64?] {
          let found = FileInspection.compare(
            size,
            committed: ByteRanges(upTo: committed),
            whole: whole
          )
          switch found {
          case .missing: Issue.record("a file of \(size) bytes is not missing")
          case .over: #expect(whole.map { size > $0 } == true)
          case .shorter: #expect(size < committed)
          case .longer: #expect(size > committed)
          case .complete: #expect(size == committed && size == whole)
          case .equal: #expect(size == committed && size != whole)
          }
        }
      }
    }
  }

  @Test func `a finished file is identified by its file identity, also after a rename`() throws {
    try fixture.add(url)
    var record = try fixture.finish(url)
    #expect(FileInspection(of: record, in: try fixture.layout(of: record)).final == .ours)
    let path = try fixture.layout(of: record).finalPath
    record.filename = "b.bin"
    try FileManager.default.moveItem(atPath: path, toPath: fixture.layout(of: record).finalPath)
    #expect(FileInspection(of: record, in: try fixture.layout(of: record)).final == .ours)
  }

  @Test(.requirements("FK27"))
  func `a copy with the same size and content is not recognized as our file`() throws {
    try fixture.add(url)
    let record = try fixture.finish(url, "body")
    let path = try fixture.layout(of: record).finalPath
    try fixture.write("body", to: path + ".copy")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + ".copy", toPath: path)
    try setModified(path, fixture.now)
    #expect(FileInspection(of: record, in: try fixture.layout(of: record)).final == .sizeOnly)
  }

  @Test func `a file is not ours if the record has no file identity`() throws {
    let record = try fixture.add(url).record
    let layout = try fixture.layout(of: record)
    try fixture.write("theirs", to: layout.finalPath)
    #expect(FileInspection(of: record, in: layout).final == .mismatch)
    let sized = try fixture.change(url) { $0.expected = 6 }
    #expect(FileInspection(of: sized, in: layout).final == .sizeOnly)
  }

  @Test func `a folder, a symbolic link and a pipe are foreign`() throws {
    let record = try fixture.add(url).record
    let layout = try fixture.layout(of: record)
    let manager = FileManager.default
    try manager.createDirectory(atPath: layout.finalPath, withIntermediateDirectories: true)
    #expect(FileInspection(of: record, in: layout).final == .mismatch)
    try manager.removeItem(atPath: layout.finalPath)
    try manager.createSymbolicLink(atPath: layout.finalPath, withDestinationPath: "/nowhere")
    #expect(FileInspection(of: record, in: layout).final == .mismatch)
    try manager.removeItem(atPath: layout.finalPath)
    #expect(unsafe mkfifo(layout.finalPath, 0o600) == 0)
    #expect(FileInspection(of: record, in: layout).final == .mismatch)
  }

  @Test func `a symbolic link in place of a partial file is not followed`() throws {
    let record = try fixture.add(url).record
    let layout = try fixture.layout(of: record)
    try fixture.write("target", to: layout.folderPath + "/target")
    try FileManager.default.createSymbolicLink(
      atPath: layout.partialPath,
      withDestinationPath: layout.folderPath + "/target"
    )
    #expect(FileInspection(of: record, in: layout).partial == .missing)
  }

  // MARK: Displayed status

  @Test(arguments: DownloadState.allCases, FileInspection.Final.allCases)
  func `every state and file status has a displayed word`(
    state: DownloadState,
    final: FileInspection.Final
  ) throws {
    var record = try fixture.add(url).record
    record.state = state
    for partial in FileInspection.Partial.allCases {
      let status = FileStatus(of: record, files: FileInspection(final: final, partial: partial))
      let expected: FileStatus =
        switch (state, final) {
        case (.completed, .ours): .present
        case (.completed, .missing): .missing
        case (.completed, .sizeOnly), (.completed, .mismatch): .modified
        default: partial == .missing ? .absent : .partial
        }
      #expect(status == expected)
    }
  }
}
