import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadStore

@Suite struct PurgeTests {
  let fixture: StoreFixture
  let url = "https://example.com/a.bin"

  init() throws {
    fixture = try StoreFixture()
    try fixture.add(url) { $0.headers = [HeaderField(name: "Cookie", value: "x")] }
  }

  private func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  private func plan(withFiles: Bool) throws -> PurgePlan {
    try fixture.store.purgePlan([fixture.store.record(matching: url)], withFiles: withFiles)
  }

  // MARK: Records

  @Test func `purging a record deletes its headers and its partial file`() throws {
    let record = try fixture.store.record(matching: url)
    let partial = try fixture.layout(of: record).partialPath
    try fixture.write("12345", to: partial)
    let plan = try plan(withFiles: false)
    #expect(plan.records == [record])
    #expect(plan.files.map(\.path) == [partial])
    #expect(plan.freedBytes == 5)
    // Making a plan deletes nothing.
    #expect(exists(partial))
    #expect(try fixture.store.record(matching: url) == record)

    #expect(try fixture.store.purge(plan).keptFiles == [])
    #expect(!exists(partial))
    #expect(try fixture.store.records(DownloadRecord.all) == [])
    #expect(try fixture.store.headers(of: record) == [])
  }

  @Test func `the freed byte count of sparse files does not overflow`() {
    let fileIdentity = FileIdentity(size: .max, inode: 1, modified: 0)
    let files = ["a", "b"].map {
      PurgePlan.File(path: $0, fileIdentity: fileIdentity, role: .orphan, record: "")
    }
    #expect(PurgePlan(files: files).freedBytes == .max)
  }

  @Test func `a record stays until its finished file is gone`() throws {
    let record = try fixture.finish(url)
    let path = try fixture.layout(of: record).finalPath
    let plan = try plan(withFiles: true)
    // The process is killed here.
    #expect(try fixture.store.removeRecords(of: plan).records == [record])
    let removed = try fixture.store.record(matching: url)
    #expect(removed.state == .removed && removed.removesFile && exists(path))

    // Another process purges what it finds.
    let next = try fixture.store.purgePlan([removed], withFiles: true)
    #expect(try fixture.store.purge(next).files.map(\.path) == [path])
    #expect(!exists(path))
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }

  @Test func `a finished file is kept unless its deletion is requested`() throws {
    let path = try fixture.layout(of: fixture.finish(url)).finalPath
    let plan = try plan(withFiles: false)
    #expect(plan.files == [] && plan.freedBytes == 0)
    try fixture.store.purge(plan)
    #expect(exists(path))
  }

  @Test func `a finished file that is ours is deleted on request`() throws {
    let path = try fixture.layout(of: fixture.finish(url, "12345678")).finalPath
    let plan = try plan(withFiles: true)
    #expect(plan.files.map(\.path) == [path])
    #expect(plan.freedBytes == 8)
    #expect(try fixture.store.purge(plan).keptFiles == [])
    #expect(!exists(path))
  }

  @Test(arguments: ["theirs", "body"])
  func `a modified finished file is never deleted`(text: String) throws {
    let path = try fixture.layout(of: fixture.finish(url, "body")).finalPath
    try fixture.write(text, to: path + ".new")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + ".new", toPath: path)
    let plan = try plan(withFiles: true)
    #expect(plan.files == [])
    try fixture.store.purge(plan)
    #expect(exists(path))
  }

  @Test func `a file that existed before its record is never deleted`() throws {
    let path = try fixture.layout(of: fixture.store.record(matching: url)).finalPath
    try fixture.write("theirs", to: path)
    try fixture.store.purge(plan(withFiles: true))
    #expect(exists(path))
  }

  @Test func `a finished file modified after planning is kept and reported`() throws {
    let path = try fixture.layout(of: fixture.finish(url)).finalPath
    let plan = try plan(withFiles: true)
    try fixture.write("theirs now", to: path)
    let kept = try fixture.store.purge(plan).keptFiles
    #expect(kept.map(\.file.path) == [path] && kept.map(\.reason) == [.changed])
    #expect(exists(path))
  }

  @Test func `a partial file that grows after planning is deleted`() throws {
    let partial = try fixture.layout(of: fixture.store.record(matching: url)).partialPath
    try fixture.write("1", to: partial)
    let plan = try plan(withFiles: false)
    try fixture.write("12345", to: partial)
    #expect(try fixture.store.purge(plan).keptFiles == [])
    #expect(!exists(partial))
  }

  @Test func `a file that is already missing is no failure`() throws {
    let partial = try fixture.layout(of: fixture.store.record(matching: url)).partialPath
    try fixture.write("1", to: partial)
    let plan = try plan(withFiles: false)
    try FileManager.default.removeItem(atPath: partial)
    #expect(try fixture.store.purge(plan).keptFiles == [])
  }

  @Test func `an empty plan deletes nothing`() throws {
    let before = try fixture.store.objects.commitNumber()
    #expect(try fixture.store.purge(PurgePlan()) == PurgeReport())
    #expect(try fixture.store.objects.commitNumber() == before)
    #expect(try fixture.store.purgePlan([], withFiles: true) == PurgePlan())
  }

  // MARK: Orphans

  /// Creates a partial file without a record, last modified `age` seconds ago.
  private func orphan(
    _ name: String? = nil,
    in folder: String = StoreFixture.files,
    age: Double = 3_600
  ) throws -> String {
    let name = name ?? PartialName(recordID: orphanID, storeID: fixture.store.id).text
    let path = try fixture.folder.makeFile("\(folder)/\(name)", "12345")
    try setModified(path, fixture.now - age)
    return path
  }

  private let orphanID = "00112233445566ff"

  @Test func `a partial file without a record is an orphan, in any folder and root`() throws {
    try fixture.store.setRoot(fixture.folder.path + "/disk", named: "disk")
    let paths = [
      try orphan(), try orphan(in: "\(StoreFixture.files)/x/y"), try orphan(in: "disk/z"),
    ]
    let plan = try fixture.store.orphanPlan()
    #expect(plan.records == [])
    #expect(plan.files.map(\.path) == paths.sorted())
    #expect(plan.freedBytes == 15)
    #expect(try fixture.store.purge(plan).keptFiles == [])
    #expect(paths.allSatisfy { !exists($0) })
  }

  #if os(Linux)
    @Test func `orphans in folders whose names differ only in bytes are all removed`() throws {
      let paths = try ["\u{E9}", "e\u{301}"].map {
        try orphan(in: "\(StoreFixture.files)/\($0)")
      }
      let plan = try fixture.store.orphanPlan()
      #expect(plan.files.count == 2)
      #expect(try fixture.store.purge(plan).files.count == 2)
      #expect(paths.allSatisfy { !exists($0) })
    }
  #endif

  @Test func `the copy of a version that a kill has left is an orphan`() throws {
    let name = PartialName(recordID: orphanID, storeID: fixture.store.id).text + ".version"
    let path = try orphan(name)
    #expect(try fixture.store.orphanPlan().files.map(\.path) == [path])
  }

  @Test func `orphans of a root inside another root are counted once`() throws {
    try fixture.store.setRoot("\(fixture.folder.path)/\(StoreFixture.files)/sub", named: "sub")
    let path = try orphan(in: "\(StoreFixture.files)/sub")
    #expect(try fixture.store.orphanPlan().files.map(\.path) == [path])
  }

  @Test(arguments: [
    "a.bin", "a.part", ".dlstore-part", "00112233445566FF.dlstore-part", "0011.dlstore-part",
    "00112233445566ff.dlstore-part.bak", "engine.lock", "CFNetworkDownload_abcdef.tmp",
    "００112233445566ff.dlstore-part",
  ]) func `a file without a partial file name is never an orphan`(name: String) throws {
    let path = try orphan(name)
    #expect(try fixture.store.orphanPlan(graceSeconds: 0).files == [])
    #expect(exists(path))
  }

  @Test func `symbolic links and folders are never orphans`() throws {
    let target = try fixture.folder.makeFile("\(StoreFixture.files)/target", "x")
    let files = "\(fixture.folder.path)/\(StoreFixture.files)"
    let store = fixture.store.id
    let link = "\(files)/\(PartialName(recordID: orphanID, storeID: store).text)"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    let sub = "\(files)/\(PartialName(recordID: "ffeeddccbbaa9988", storeID: store).text)"
    try FileManager.default.createDirectory(atPath: sub, withIntermediateDirectories: true)
    fixture.now += 1_000_000_000
    #expect(try fixture.store.orphanPlan(graceSeconds: 0).files == [])
  }

  @Test func `a symbolic link to a folder is not followed`() throws {
    let outside = try orphan(in: "outside")
    try fixture.folder.makeFile("\(StoreFixture.files)/x")
    try FileManager.default.createSymbolicLink(
      atPath: "\(fixture.folder.path)/\(StoreFixture.files)/link",
      withDestinationPath: "\(fixture.folder.path)/outside"
    )
    #expect(try fixture.store.orphanPlan().files == [])
    #expect(exists(outside))
  }

  @Test(arguments: [(59.0, false), (61.0, true)])
  func `a recently modified partial file is not an orphan yet`(age: Double, isOrphan: Bool) throws {
    _ = try orphan(age: age)
    #expect(try fixture.store.orphanPlan().files.isEmpty == !isOrphan)
  }

  @Test(arguments: DownloadState.allCases)
  func `the partial file of a record is an orphan only if the download is complete`(
    state: DownloadState
  ) throws {
    let record = try fixture.change(url) { $0.state = state }
    let partial = try fixture.layout(of: record).partialPath
    try fixture.write("12345", to: partial)
    try setModified(partial, fixture.now - 3_600)
    let orphans = try fixture.store.orphanPlan().files.map(\.path)
    #expect(orphans == (state == .completed ? [partial] : []))
  }

  @Test func `an orphan written to after planning is kept`() throws {
    let path = try orphan()
    let plan = try fixture.store.orphanPlan()
    try fixture.write("new bytes", to: path)
    let kept = try fixture.store.purge(plan).keptFiles
    #expect(kept.map(\.file.path) == [path] && kept.map(\.reason) == [.changed])
    #expect(exists(path))
  }

  // MARK: Other stores and other processes

  @Test func `a partial file of another store is never an orphan`() throws {
    // The other store's folder lies below this store's root.
    let path = fixture.folder.path("\(StoreFixture.files)/other")
    let other = try RecordStore(at: path, now: { fixture.now })
    let added = try other.addNow([DownloadRequest(url: "https://example.com/theirs")])
    let theirs = try other.roots().layout(of: added[0].record).partialPath
    try fixture.write("theirs", to: theirs)
    try setModified(theirs, fixture.now - 3_600)
    let ours = try orphan()
    let plan = try fixture.store.orphanPlan()
    #expect(plan.files.map(\.path) == [ours])
    try fixture.store.purge(plan)
    #expect(exists(theirs) && !exists(ours))
  }

  @Test func `a file whose name has no store id is not an orphan`() throws {
    let path = try orphan("\(orphanID).dlstore-part")
    let record = try fixture.store.record(matching: url)
    _ = try orphan("\(record.id).dlstore-part")
    let plan = try fixture.store.orphanPlan()
    #expect(plan.files == [])
    try fixture.store.purge(plan)
    #expect(exists(path))
  }

  @Test func `an orphan in use by another process is kept`() throws {
    let path = try orphan()
    let plan = try fixture.store.orphanPlan()
    let lock = try LockedFile(path, for: .deleting)
    let report = try fixture.store.purge(plan)
    #expect(report.files == [] && report.keptFiles.map(\.reason) == [.inUse])
    #expect(exists(path))
    lock.unlock()
    #expect(try fixture.store.purge(plan).files == plan.files)
    #expect(!exists(path))
  }

  @Test func `an orphan that has a record again is kept`() throws {
    let path = try fixture.layout(of: fixture.store.record(matching: url)).partialPath
    try fixture.write("12345", to: path)
    try setModified(path, fixture.now - 3_600)
    try fixture.store.objects.write { tx in _ = try tx.delete(DownloadRecord.self, key: url) }
    let plan = try fixture.store.orphanPlan()
    #expect(plan.files.map(\.path) == [path])
    try fixture.add(url)
    #expect(try fixture.store.purge(plan).keptFiles.map(\.reason) == [.changed])
    #expect(exists(path))
  }

  @Test func `purging a record keeps a partial file that is being written`() throws {
    let partial = try fixture.layout(of: fixture.store.record(matching: url)).partialPath
    try fixture.write("12345", to: partial)
    let plan = try plan(withFiles: false)
    let lock = try LockedFile(partial, for: .writing)
    let report = try fixture.store.purge(plan)
    #expect(report.records.map(\.url) == [url])
    #expect(report.keptFiles.map(\.reason) == [.inUse])
    #expect(exists(partial))
    lock.unlock()
  }

  // MARK: Changes after planning

  /// Changes to a failed download that can happen while the user is asked.
  enum Change: CaseIterable {
    case resume, restart, cancel, remove, tag, rename, replaceURL
    // One field each: the commands change several.
    case generation, state, intent, isHeld, startsImmediately, destination

    func apply(to url: String, in store: RecordStore) throws {
      var update = RecordUpdate()
      switch self {
      case .resume: try store.apply(.resume(immediately: false), to: .matching(url))
      case .restart: try store.apply(.restart, to: .matching(url))
      case .cancel: try store.apply(.cancel, to: .matching(url))
      case .remove: try store.apply(.remove(withFile: false), to: .matching(url))
      case .tag: update.addedTags = ["keep"]
      case .rename: update.filename = "renamed"
      case .replaceURL: update.url = "https://example.com/new"
      default:
        try store.objects.write { tx in
          _ = try tx.update(DownloadRecord.self, key: url, changeField)
        }
      }
      if update != RecordUpdate() { try store.updateNow(matching: url, with: update) }
    }

    private func changeField(of record: inout DownloadRecord) {
      switch self {
      case .generation: record.generation += 1
      case .state: record.state = .cancelled
      case .intent: record.intent = .pause
      case .isHeld: record.isHeld = true
      case .startsImmediately: record.startsImmediately = true
      case .destination: record.destination += "x"
      default: break
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `a record changed after planning is kept with its files`(change: Change) throws {
    let failed = try fixture.change(url) { $0.state = .failedPermanent }
    let partial = try fixture.layout(of: failed).partialPath
    try fixture.write("12345", to: partial)
    try fixture.add("https://example.com/other")
    let plan = try fixture.store.purgePlan(
      try fixture.store.records(DownloadRecord.all),
      withFiles: true
    )
    try change.apply(to: url, in: fixture.store)
    let current = try fixture.store.record(matching: failed.id)
    let report = try fixture.store.purge(plan)
    #expect(report.records.map(\.url) == ["https://example.com/other"])
    #expect(report.skippedRecords == [.init(record: failed, current: current)])
    #expect(try fixture.store.record(matching: failed.id) == current)
    #expect(exists(partial))
    #expect(try fixture.store.headers(of: current).map(\.name) == ["Cookie"])
  }

  @Test func `a download that only made progress after planning is purged`() throws {
    try fixture.change(url) { $0.state = .running }
    let plan = try plan(withFiles: false)
    try fixture.change(url) { record in
      record.received = 5
      record.updatedAt = fixture.now + 1
    }
    #expect(try fixture.store.purge(plan).records.map(\.url) == [url])
  }

  @Test func `a record deleted after planning is reported`() throws {
    let record = try fixture.store.record(matching: url)
    let plan = try plan(withFiles: false)
    try fixture.store.purge(plan)
    let report = try fixture.store.purge(plan)
    #expect(report.skippedRecords == [.init(record: record, current: nil)])
  }

  @Test func `a second name that a finished file kept is an orphan`() throws {
    let fixture = try StoreFixture()
    try fixture.add("http://h/a")
    let record = try fixture.finish("http://h/a")
    let layout = try fixture.layout(of: record)
    try FileManager.default.linkItem(atPath: layout.finalPath, toPath: layout.partialPath)
    fixture.now = Date(timeIntervalSinceNow: 3_600)
    let problems = try fixture.store.verifyFiles().problems
    #expect(problems.map(\.kind) == [.orphan] && problems[0].path == layout.partialPath)
    let report = try fixture.store.purge(try fixture.store.orphanPlan())
    #expect(report.files.map(\.path) == [layout.partialPath])
    #expect(FileIdentity(ofFileAt: layout.finalPath) == record.fileIdentity)
    #expect(try fixture.store.verifyFiles().problems.isEmpty)
  }

  #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "needs the right to mount a file system"))
    func `a finished file that cannot be deleted keeps its record`() throws {
      let fixture = try StoreFixture()
      let disk = try #require(SmallDisk(kilobytes: 64))
      try fixture.add("http://h/a")
      try fixture.add("http://h/b")
      let folder = try fixture.layout(of: fixture.store.record(matching: "http://h/a")).folderPath
      try FileManager.default.createDirectory(
        atPath: (folder as NSString).deletingLastPathComponent,
        withIntermediateDirectories: true
      )
      try? FileManager.default.removeItem(atPath: folder)
      try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: disk.path)
      let record = try fixture.finish("http://h/a")
      let path = try fixture.layout(of: record).finalPath
      #expect(disk.makeReadOnly())
      let plan = try fixture.store.purgePlan(fixture.store.records(), withFiles: true)
      let report = try fixture.store.purge(plan)
      #expect(report.records.map(\.url) == ["http://h/b"] && report.files.isEmpty)
      #expect(report.keptFiles.map(\.file.path) == [path])
      #expect(report.keptFiles.first?.keepsRecord == true)
      // The next engine deletes both.
      let kept = try fixture.store.records()
      #expect(kept.map(\.id) == [record.id] && kept.map(\.state) == [.removed])
      #expect(kept.map(\.removesFile) == [true])
    }
  #endif

  @Test func `a finished file in a folder that is missing keeps its record`() throws {
    let fixture = try StoreFixture()
    try fixture.add("http://h/a")
    let record = try fixture.finish("http://h/a")
    let folder = try fixture.layout(of: record).folderPath
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
    let plan = try fixture.store.purgePlan([record], withFiles: true)
    #expect(plan.records.isEmpty && plan.unreachableRecords == [record])
    let list = try fixture.store.purgeList(DownloadRecord.all, withFiles: true)
    #expect(list.count == 0 && list.unreachableCount == 1)
    #expect(try fixture.store.purgePlan([record], withFiles: false).records == [record])
    let problem = try #require(try fixture.store.verifyFiles().problems.first)
    #expect(problem.kind == .folderMissing)
    #expect(problem.message.hasPrefix("the folder \(folder) is missing: "))
    #expect(throws: RecordStoreError.self) { try fixture.store.checkFile(of: record) }
  }
}
