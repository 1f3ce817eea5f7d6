import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import LMDB
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The command `verify`.
struct VerifyCommandTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func verify(_ options: String...) async -> CommandResult {
    await dlstore(["--store", store, "verify"] + options)
  }

  private func report(
    _ options: String...
  ) async throws -> (CommandLineSupport.ExitStatus, [String: Any]) {
    let result = await dlstore(["--store", store, "verify", "--json"] + options)
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return (result.status, try #require(object as? [String: Any]))
  }

  private func layout(_ url: String) throws -> FileLayout {
    let records = try RecordStore(at: store, access: .readOnly)
    return try records.roots().layout(of: records.record(matching: url))
  }

  /// Creates a file of zeros, last changed an hour ago.
  private func makeFile(_ path: String, _ size: Int) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(count: size).write(to: url)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3600)],
      ofItemAtPath: path
    )
  }

  /// Adds a completed download with a file of 100 bytes.
  private func completed(_ url: String) async throws -> FileLayout {
    _ = await dlstore("--store", store, "add", url)
    let layout = try layout(url)
    try makeFile(layout.finalPath, 100)
    let identity = try #require(FileIdentity(ofFileAt: layout.finalPath))
    try change(url) { record in
      record.state = .completed
      record.received = 100
      record.fileIdentity = identity
    }
    return layout
  }

  private func editTable(
    _ name: String,
    _ keys: Database.Keys,
    _ body: (inout WriteTransaction, Database) throws -> Void
  ) throws {
    let environment = try Environment.open(store)
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase(name, keys: keys)
    try body(&transaction, database)
    try transaction.commit()
  }

  /// Creates a store that is not one of downloads, with 300 objects.
  private func makeNotes() throws {
    try Store(at: store, models: [SampleNote.self]).write { tx in
      for id in 1...300 { try tx.insert(SampleNote(id: id)) }
    }
  }

  /// Overwrites every page of the file that contains a text.
  private func damagePages(holding text: String) throws {
    let url = URL(filePath: store + "/data.mdb")
    var bytes = try Data(contentsOf: url)
    var count = 0
    for start in stride(from: 2 * 4096, to: bytes.count, by: 4096)
    where bytes[start..<start + 4096].range(of: Data(text.utf8)) != nil {
      bytes.replaceSubrange(start + 8..<start + 4096, with: [UInt8](repeating: 0xAB, count: 4_088))
      count += 1
    }
    #expect(count > 0)
    try bytes.write(to: url)
  }

  // MARK: Examination

  @Test func `an intact store has no problems`() async throws {
    _ = try await completed("http://a/1")
    let (status, report) = try await report()
    #expect(status == .done && report["valid"] as? Bool == true)
    #expect(report["repair"] is NSNull && report["problemCount"] as? Int == 0)
    let files = try #require(report["files"] as? [String: Any])
    #expect(files["records"] as? Int == 1)
    let text = await verify()
    #expect(text.output.hasSuffix("files of 1 record: no problems\n"))
    // Without problems, --repair changes nothing, so a running engine does not prevent it.
    let lock = try EngineLock(storePath: store)
    #expect(await verify("--repair") == text)
    withExtendedLifetime(lock) {}
  }

  @Test func `verify works on any store and creates none`() async throws {
    #expect(await verify().status == .notFound)
    #expect(await verify("--repair").status == .notFound)
    #expect(!FileManager.default.fileExists(atPath: store))
    try makeNotes()
    let (status, report) = try await report()
    #expect(status == .done && report["files"] is NSNull)
    let models = try #require(report["models"] as? [String: [String: Int]])
    #expect(models["Note"]?["objects"] == 300 && models["Note"]?["indexEntries"] == 300)
  }

  @Test func `verify reports every difference between records and files`() async throws {
    let missing = try await completed("http://a/missing")
    try FileManager.default.removeItem(atPath: missing.finalPath)
    let modified = try await completed("http://a/modified")
    try Data(repeating: 7, count: 100).write(to: URL(filePath: modified.finalPath))
    let size = try await completed("http://a/size")
    try makeFile(size.finalPath, 90)
    let removed = try await completed("http://a/orphan")
    try makeFile(removed.partialPath, 12)
    try await RecordStore(at: store).objects.write { tx in
      _ = try tx.delete(DownloadRecord.self, key: "http://a/orphan")
    }
    for (name, received) in [("short", 50), ("absent", 60), ("paused", 0)] {
      _ = await dlstore("--store", store, "add", "http://a/\(name)")
      try change("http://a/\(name)") { record in
        record.state = .paused
        record.received = Int64(received)
      }
    }
    try makeFile(try layout("http://a/short").partialPath, 49)
    let (status, report) = try await report()
    #expect(status == .damaged)
    let files = try #require(report["files"] as? [String: Any])
    let problems = try #require(files["problems"] as? [[String: Any]])
    let kinds = problems.map { problem in
      let path = (problem["path"] as? String)?.split(separator: "/").last ?? ""
      return "\(problem["kind"] as? String ?? "") \(path.hasSuffix("part") ? "partial" : path)"
    }
    #expect(
      kinds.sorted() == [
        "missing missing", "modified modified", "orphan partial", "partialMissing partial",
        "partialShort partial", "sizeDiffers size",
      ]
    )
    #expect(report["problemCount"] as? Int == 6 && report["valid"] as? Bool == false)
    let counts = try #require(files["problemCounts"] as? [String: Int])
    #expect(Set(counts.values) == [1] && counts.count == 6)
    let text = await verify().output
    #expect(text.contains("the file has 90 bytes; the downloaded one had 100"))
    #expect(text.contains("49 bytes; 50 are committed"))
    #expect(
      text.contains(
        """
        'dlstore verify --repair --store \(store)' corrects the records of unfinished downloads
        'dlstore verify-file --all --repair --store \(store)' downloads missing files \
        again, and changed ones whose checksum is known
        if files were copied to another disk, 'dlstore verify --accept --store \(store)' recognizes \
        those with the contents of their downloads, and 'dlstore restart --store \(store)' downloads \
        any other again

        """
      )
    )
  }

  @Test(arguments: [false, true])
  func `files that have moved with their folder are recognized by the commands that verify names`(
    leavingEmptyFolder isMountPoint: Bool
  ) async throws {
    let layouts = [try await completed("http://a/1"), try await completed("http://a/2")]
    let (old, new) = ("\(store)/files", folder.path("new disk"))
    try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
    for layout in layouts {
      try FileManager.default.copyItem(
        atPath: layout.finalPath,
        toPath: new + layout.finalPath.dropFirst(old.count)
      )
      try FileManager.default.removeItem(atPath: layout.finalPath)
    }
    if !isMountPoint { try FileManager.default.removeItem(atPath: old) }
    let found = await verify()
    #expect(found.status == .damaged)
    let advice = found.lines.filter { $0.contains("root set") }
    #expect(
      advice == [
        """
        all 2 files below \(old) are missing: mount its volume; or, if it was moved, 'dlstore root set \
        default FOLDER --store \(store)' names the new place, and then 'dlstore verify --accept --store \
        \(store)' recognizes the files
        """
      ],
      "\(found.output)"
    )
    #expect(await dlstore("--store", store, "root", "set", "default", new).status == .done)
    #expect(await verify("--accept").status == .done)
    #expect(await verify().status == .done)
  }

  @Test func `a file that was deleted is not called moved, and one of a missing folder is`()
    async throws
  {
    let layout = try await completed("http://a/1")
    try FileManager.default.removeItem(atPath: layout.finalPath)
    #expect(await !verify().output.contains("root set"))
    try FileManager.default.removeItem(atPath: "\(store)/files")
    #expect(await verify().output.contains("the only file below \(store)/files is missing: "))
  }

  @Test func `while a root has a file, the others are not called moved`() async throws {
    for number in 1...3 {
      let layout = try await completed("http://a/\(number)")
      guard number > 1 else { continue }
      try FileManager.default.removeItem(atPath: layout.finalPath)
    }
    #expect(await !verify().output.contains("root set"))
  }

  @Test(arguments: [[], ["--repair"]])
  func `a record with a word that dlstore does not know is named, with what corrects it`(
    options: [String]
  ) async throws {
    try await RecordStore(at: store).add([DownloadRequest(url: "http://h/a")])
    let exported = await dlstore("--store", store, "export").output
    let changed = exported.replacing(#""state":"waiting""#, with: #""state":"unheard""#)
    #expect(changed != exported)
    let file = try folder.makeFile("changed.jsonl", changed)
    let lines = try FileHandle(forReadingFrom: URL(filePath: file))
    _ = try Store.importJSONLines(
      from: lines.fileDescriptor,
      named: file,
      intoStoreAt: store,
      options: ImportOptions(conflict: .replace)
    )
    let result = await dlstore(["--store", store, "verify"] + options)
    #expect(result.status == .damaged)
    #expect(result.messages.contains("(state)") && result.messages.contains("objectstore"))
  }

  /// Replaces a file by a copy with its time, or with another one.
  private func copy(_ path: String, age: TimeInterval = 0) throws {
    let known = try #require(FileIdentity(ofFileAt: path))
    // While it has a name, no copy of the copy gets its inode.
    try FileManager.default.linkItem(atPath: path, toPath: folder.path("old-\(UUID().uuidString)"))
    try FileManager.default.copyItem(atPath: path, toPath: path + ".new")
    try FileManager.default.setAttributes(
      [.modificationDate: known.modificationDate.addingTimeInterval(age)],
      ofItemAtPath: path + ".new"
    )
    #expect(unsafe rename(path + ".new", path) == 0)
  }

  @Test func `verify --accept recognizes files that were copied to another disk`() async throws {
    let layout = try await completed("http://a/1")
    try copy(layout.finalPath)
    let found = await verify()
    #expect(found.status == .damaged)
    #expect(found.output.contains("modified: "))
    #expect(found.output.contains("'dlstore verify --accept --store \(store)'"))
    // Nothing shows its contents.
    let repaired = await verify("--repair")
    #expect(repaired.status == .damaged)
    #expect(repaired.output.contains("not repaired: 1 finished file has"), "\(repaired.output)")
    // An engine does not use finished files.
    let lock = try EngineLock(storePath: store)
    let (status, report) = try await report("--accept")
    withExtendedLifetime(lock) {}
    #expect(status == .done)
    let repair = try #require(report["repair"] as? [String: Any])
    #expect(repair["acceptedFiles"] as? Int == 1 && repair["reconciled"] is NSNull)
    let unproven = try #require(repair["acceptedWithoutDigest"] as? [[String: String]])
    #expect(unproven == [["path": layout.finalPath, "compared": "sizeAndTime"]])
    #expect(await verify().status == .done)
  }

  @Test(arguments: [3, 4])
  func `a file with only another inode is called a copy, and many are counted`(
    count: Int
  ) async throws {
    for number in 1...count { try copy(try await completed("http://a/\(number)").finalPath) }
    try copy(try await completed("http://a/edited").finalPath, age: 3_600)
    let lines = await verify().lines.filter { $0.hasPrefix("modified: ") }
    let changed = "edited: the file has changed since the download was completed"
    #expect(lines.count { $0.hasSuffix(changed) } == 1, "\(lines)")
    let copy = ": not the downloaded file, but one with its size and time, such as a copy"
    #expect(lines.count { $0.hasSuffix(copy) } == (count == 3 ? 3 : 0), "\(lines)")
    let copies = "modified: 4 files are not the downloaded ones, but have their sizes and times, "
    #expect(lines.count { $0.hasPrefix(copies) } == (count == 3 ? 0 : 1), "\(lines)")
    let files = try #require(try await report().1["files"] as? [String: Any])
    #expect((files["problems"] as? [Any])?.count == count + 1)
    #expect(await verify("--accept").status == .done)
  }

  @Test func `verify --accept names the files whose contents it has not compared`() async throws {
    let layout = try await completed("http://a/1")
    try copy(layout.finalPath, age: 3_600)
    let result = await verify("--accept")
    #expect(result.status == .done)
    #expect(
      result.output.contains(
        "accepted without a digest: \(layout.finalPath): only the size agrees, the contents were not "
          + "compared\n"
      ),
      "\(result.output)"
    )
  }

  @Test(arguments: [100, 99])
  func `verify --accept does not accept an edited file of which no digest is known`(
    keeping kept: Int
  ) async throws {
    let layout = try await completed("http://a/1")
    let known = try #require(FileIdentity(ofFileAt: layout.finalPath))
    let handle = try FileHandle(forWritingTo: URL(filePath: layout.finalPath))
    try handle.truncate(atOffset: UInt64(kept))
    try handle.write(contentsOf: Data([9]))
    try handle.close()
    try FileManager.default.setAttributes(
      [.modificationDate: known.modificationDate.addingTimeInterval(3_600)],
      ofItemAtPath: layout.finalPath
    )
    let result = await verify("--accept")
    #expect(result.status == .damaged, "\(result.output)")
    #expect(!result.output.contains("accepted without a digest"))
    let isNamed = result.output.contains("\(layout.finalPath) was written to since its download")
    #expect(isNamed == (kept == 99), "\(result.output)")
    #expect(await verify().status == .damaged)
  }

  @Test func `verify --repair recognizes a file whose time and digest agree`() async throws {
    let layout = try await completed("http://a/1")
    let digest = try Digest.ofFile(at: layout.finalPath).text
    try change("http://a/1") { $0.verifiedDigest = digest }
    try copy(layout.finalPath, age: 3_600)
    #expect(await verify("--repair").status == .damaged)
    try copy(layout.finalPath, age: -3_600)
    let repaired = await verify("--repair")
    #expect(repaired.status == .done, "\(repaired.output)")
    #expect(repaired.output.contains("accepted 1 file with another inode or time"))
    let status = await dlstore("--store", store, "list", "--format", "json").output
    #expect(status.contains("\"present\""))
  }

  @Test func `verify --accept does not accept other contents`() async throws {
    let layout = try await completed("http://a/1")
    let digest = try Digest.ofFile(at: layout.finalPath).text
    try change("http://a/1") { $0.verifiedDigest = digest }
    try Data(repeating: 7, count: 100).write(to: URL(filePath: layout.finalPath))
    let result = await verify("--accept")
    #expect(result.status == .damaged)
    #expect(result.output.contains("has other contents than its download"), "\(result.output)")
    #expect(await verify("--accept", "--immutable").status == .usage)
  }

  @Test(arguments: [false, true])
  func `a copy with other contents is not called a copy after verify --accept has read it`(
    keepsInode: Bool
  ) async throws {
    let path = try await completed("http://a/1").finalPath
    let digest = try Digest.ofFile(at: path).text
    try change("http://a/1") { $0.verifiedDigest = digest }
    let known = try #require(FileIdentity(ofFileAt: path))
    if !keepsInode { try copy(path) }
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.write(contentsOf: Data([9, 9]))
    try handle.close()
    try FileManager.default.setAttributes(
      [.modificationDate: known.modificationDate.addingTimeInterval(keepsInode ? 60 : 0)],
      ofItemAtPath: path
    )
    let result = await verify("--accept")
    #expect(result.status == .damaged)
    #expect(result.output.contains(": \(path): the file has other contents than its download\n"))
    #expect(!result.output.contains("such as a copy"), "\(result.output)")
    // A repair replaces a file with the inode of the downloaded one, and no other without its pieces.
    let advice = keepsInode ? "verify-file --all --repair" : "restart"
    #expect(
      result.output.contains("\(path) has other contents than its download: 'dlstore \(advice) "),
      "\(result.output)"
    )
    let files = try #require(try await report("--accept").1["files"] as? [String: Any])
    let problem = try #require((files["problems"] as? [[String: Any]])?.first)
    #expect(problem["message"] as? String == "the file has other contents than its download")
    let later = await verify()
    #expect(later.lines.contains { $0.contains("'dlstore restart ") }, "\(later.output)")
  }

  @Test func `verify shows no secret of a URL`() async throws {
    let layout = try await completed("http://me:hush@a/1?token=hush")
    try FileManager.default.removeItem(atPath: layout.finalPath)
    for options in [[], ["--json"]] {
      let result = await dlstore(["--store", store, "verify"] + options)
      #expect(result.status == .damaged && !result.output.contains("hush"))
    }
  }

  #if os(Linux)
    @Test func `progress is drawn on a terminal, and removed at the end`() async throws {
      try makeNotes()
      let terminal = try PseudoTerminal()
      let verify = try DLStoreProcess(
        ["verify"],
        store: store,
        in: folder.path,
        environment: ["TERM": "xterm"],
        terminal: terminal.handle
      )
      #expect(try await verify.status() == 0)
      #expect(terminal.text.contains("\rverifying: 300 of 300 objects, 0 problems"))
      #expect(terminal.text.contains("\r\(Terminal.clearLine)verified: "))
    }
  #endif

  // MARK: Repair

  @Test(
    arguments: [
      ([], .nothing), ([.reference], .nothing), ([.uniqueness], .nothing),
      ([.index], .rebuildIndexes), ([.index, .uniqueness], .rebuildIndexes),
      ([.index, .record], .salvage), ([.record, .index], .salvage), ([.page], .salvage),
      ([.description], .salvage), ([.hotPart], .salvage), ([.primaryKey], .salvage),
      ([.history], .salvage),
    ] as [([VerificationReport.Problem.Kind], RepairPlan)]
  )
  func `the repair is the least that can help`(
    kinds: [VerificationReport.Problem.Kind],
    plan: RepairPlan
  ) {
    #expect(RepairPlan(for: kinds) == plan)
  }

  @Test func `a damaged index is rebuilt in place, also while an engine runs`() async throws {
    try makeNotes()
    try editTable("Note/index/2", .bytes) { tx, table in try tx.removeAll(in: table) }
    #expect(await verify().status == .damaged)
    let lock = try EngineLock(storePath: store)
    let result = await verify("--repair")
    withExtendedLifetime(lock) {}
    #expect(result.status == .done, "\(result)")
    #expect(result.lines.first == "repaired: rebuilt the indexes, 300 entries")
    #expect(await verify().status == .done)
    let names = try FileManager.default.contentsOfDirectory(atPath: store)
    #expect(!names.contains { $0.contains("damaged") })
  }

  @Test func `a damaged file is replaced by its readable objects, and kept`() async throws {
    try makeNotes()
    try damagePages(holding: "the text of note 42")
    let damaged = try Data(contentsOf: URL(filePath: store + "/data.mdb"))
    #expect(try await DLStoreProcess.run("verify", store: store).status == 65)
    let result = try await DLStoreProcess.run("verify", "--repair", "--json", store: store)
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let report = try #require(object as? [String: Any])
    #expect(result.status == 0 && report["valid"] as? Bool == true, "\(result)")
    let repair = try #require(report["repair"] as? [String: Any])
    let kept = try #require(repair["damagedFile"] as? String)
    #expect(kept == store + "/data.mdb.damaged")
    #expect(try Data(contentsOf: URL(filePath: kept)) == damaged)
    let models = try #require(repair["models"] as? [String: [String: Int]])
    let saved = try #require(models["Note"]?["saved"])
    #expect((1..<300).contains(saved))
    let notes = try Store(at: store, models: [SampleNote.self])
    let rest = try await notes.read { tx in try tx.fetch(SampleNote.all) }
    #expect(rest.count == saved && rest.allSatisfy { $0 == SampleNote(id: $0.id) })
    #expect(!FileManager.default.fileExists(atPath: store + "/data.mdb.repair"))
  }

  @Test func `a repair that saves no object has failed`() async throws {
    try makeNotes()
    try damagePages(holding: "the text of note")
    let result = await verify("--repair")
    #expect(result.status == .damaged)
    #expect(result.lines.first == "no object could be saved: restore a backup", "\(result)")
    #expect(FileManager.default.fileExists(atPath: store + "/data.mdb.damaged"))
  }

  @Test func `records are saved without the description of the store`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1", "http://a/2")
    try editTable("store", .bytes) { tx, table in try tx.removeAll(in: table) }
    #expect(await verify().status == .damaged)
    let result = await verify("--repair")
    #expect(result.status == .done, "\(result)")
    #expect(await dlstore("--store", store, "list", "--quiet").lines.count == 2)
    #expect(await dlstore("--store", store, "add", "http://a/2").status == .done)
  }

  @Test(arguments: [false, true])
  func `damage is named with the command that repairs it, and its losses`(
    isMetaPage: Bool
  ) async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let file = try FileHandle(forUpdating: URL(filePath: store + "/data.mdb"))
    if isMetaPage {
      try file.seek(toOffset: 4_096)
      try file.write(contentsOf: Data(repeating: 0x5a, count: 4_096))
    } else {
      try file.truncate(atOffset: 0)
      try file.write(contentsOf: Data(repeating: 0x5a, count: 20_000))
    }
    try file.close()
    let damage =
      isMetaPage ? "page: one of the two meta pages is damaged" : "page: this is no file of LMDB"
    #expect(
      await verify().output.hasPrefix(
        """
        \(damage)
        files were not compared with records: the store is damaged
        'dlstore verify --repair --store \(store)' copies what is readable into a new file, and keeps \
        the damaged one
        """
      )
    )
    let repair = await verify("--repair")
    #expect((repair.status == .done) == isMetaPage)
    let note = "note: one of the two meta pages is damaged: if it is that of the last commit"
    #expect(repair.output.contains(note) == isMetaPage)
  }

  @Test func `partial files of lost records are kept as long as the damaged file`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1", "http://a/2")
    let partial = try layout("http://a/1").partialPath
    try makeFile(partial, 20)
    try editTable("DownloadRecord", .integers) { tx, table in
      let key = unsafe withUnsafeBytes(of: UInt64(1)) { unsafe Array($0) }
      try tx.put([1, 2, 3].span, for: key.span, in: table)
    }
    for _ in 0..<2 {
      let result = await verify("--repair")
      #expect(result.status == .damaged)
      #expect(result.output.contains("not repaired: 1 partial files without a record were kept"))
      #expect(FileManager.default.fileExists(atPath: partial))
    }
    #expect(try RecordStore(at: store).records().map(\.url) == ["http://a/2"])
    try FileManager.default.removeItem(atPath: store + "/data.mdb.damaged")
    #expect(await verify("--repair").status == .done)
    #expect(!FileManager.default.fileExists(atPath: partial))
  }

  @Test func `the file of an open store is not replaced`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    try editTable("DownloadRecord", .integers) { tx, table in
      let key = unsafe withUnsafeBytes(of: UInt64(1)) { unsafe Array($0) }
      try tx.put([1, 2, 3].span, for: key.span, in: table)
    }
    let open = try RecordStore(at: store)
    let busy = try await DLStoreProcess.run("verify", "--repair", store: store)
    #expect(busy.status == 1 && busy.messages.contains("another process has \(store) open"))
    let lock = try EngineLock(storePath: store)
    let running = try await DLStoreProcess.run("verify", "--repair", store: store)
    #expect(running.status == 75 && running.messages.contains("an engine runs on \(store)"))
    withExtendedLifetime((open, lock)) {}
    let names = try FileManager.default.contentsOfDirectory(atPath: store)
    #expect(!names.contains { $0.contains("damaged") || $0.contains("repair") })
  }

  @Test func `--repair does what reconcile --apply does, and deletes no record`() async throws {
    let missing = try await completed("http://a/missing")
    try FileManager.default.removeItem(atPath: missing.finalPath)
    _ = await dlstore("--store", store, "add", "http://a/short")
    try change("http://a/short") { record in
      record.state = .running
      record.received = 50
      record.expected = 100
      record.entityTag = "\"1\""
    }
    try makeFile(try layout("http://a/short").partialPath, 30)
    let id = try RecordStore(at: store).id
    let name = PartialName(recordID: "0123456789abcdef", storeID: id).text
    let orphan = "\(store)/files/\(name)"
    try makeFile(orphan, 5)
    do {
      let lock = try EngineLock(storePath: store)
      #expect(await verify("--repair").status == .engineRuns)
      withExtendedLifetime(lock) {}
    }
    #expect(FileManager.default.fileExists(atPath: orphan))
    let result = await verify("--repair")
    #expect(result.status == .damaged)
    let repaired = "repaired: reconciled 1 active records with their files, deleted 1 orphans"
    #expect(result.lines.first == repaired)
    #expect(!FileManager.default.fileExists(atPath: orphan))
    // A missing file is for the user to decide about: only `restart` downloads it again.
    #expect(result.lines.last?.hasSuffix("1 problem (missing: 1)") == true)
    #expect(try RecordStore(at: store).record(matching: "http://a/short").received <= 30)
    #expect(try RecordStore(at: store).records().count == 2)
  }
}
