import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What people read about stores, folders, names and files that are not as a command needs them.
@Suite(.timeLimit(.minutes(10)))
struct StoreMessageTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func message(_ words: [String], _ status: CommandLineSupport.ExitStatus) async -> String {
    let result = await dlstore(["--store", store] + words)
    #expect(result.status == status, "\(result.messages)")
    return result.messages.trimmingPrefix("dlstore: ").trimmingCharacters(in: .newlines)
  }

  private func message(_ words: String..., status: CommandLineSupport.ExitStatus) async -> String {
    await message(words, status)
  }

  @Test func `a missing store`() async {
    for words in [["list"], ["run", "--until-idle"], ["pause", "--all"]] {
      #expect(
        await message(words, .notFound)
          == "\(store): there is no store here; 'dlstore add URL --store \(store)' creates a "
          + "store, and --store names another one"
      )
    }
  }

  @Test func `an empty data file`() async throws {
    _ = try folder.makeFile("store/data.mdb", "")
    #expect(
      await message("list", status: .notFound)
        == "opening \(store): there is no store, because data.mdb is empty; 'dlstore add URL "
        + "--store \(store)' creates a store, and --store names another one"
    )
  }

  @Test func `a damaged data file`() async throws {
    _ = try folder.makeFile("store/data.mdb", String(repeating: "no store ", count: 2_000))
    #expect(
      await message("list", status: .damaged)
        == "opening \(store): the file is damaged or is not a store; 'dlstore verify --store "
        + "\(store)' lists the damage, and 'dlstore verify --repair --store \(store)' saves what "
        + "is readable"
    )
  }

  @Test func `a file in the place of a store`() async throws {
    _ = try folder.makeFile("store", "no folder")
    let text = "\(store) is not a folder; --store names the folder of a store"
    for words in [["list"], ["verify"], ["compact"]] {
      #expect(await message(words, .notFound) == text)
    }
    #expect(await message("add", "http://h/a", status: .cannotCreate) == text)
  }

  @Test func `a link to nothing, and a link to itself, in the place of a store`() async {
    #expect(unsafe symlink(folder.path("nowhere"), store) == 0)
    let text =
      "\(store) is a symbolic link to a folder that does not exist; create that folder, remove the "
      + "link, or name another --store"
    for words in [["list"], ["verify"]] { #expect(await message(words, .notFound) == text) }
    #expect(await message("add", "http://h/a", status: .cannotCreate) == text)
    #expect(unlink(store) == 0)
    #expect(unsafe symlink(store, store) == 0)
    let loop = "\(store): Too many levels of symbolic links; --store names the folder of a store"
    for words in [["list"], ["verify"]] { #expect(await message(words, .notFound) == loop) }
  }

  @Test func `nothing can be saved from a file that is no store`() async throws {
    _ = try folder.makeFile("store/data.mdb", String(repeating: "no store ", count: 2_000))
    let text = await message("verify", "--repair", status: .damaged)
    #expect(
      text.hasSuffix(
        ": nothing can be saved, and the file was not changed; restore a backup, or move "
          + "\(store)/data.mdb away to begin with an empty store"
      ),
      "\(text)"
    )
    #expect(!text.contains("--repair"), "\(text)")
    #expect(!FileManager.default.fileExists(atPath: "\(store)/data.mdb.damaged"))
  }

  @Test func `a folder that cannot be created`() async {
    let path = "/proc/none/files"
    #expect(
      await message("get", "http://h/x", "--output-folder", path, status: .cannotCreate)
        == "cannot create the folder /proc/none: No such file or directory"
    )
  }

  @Test func `a current folder that was deleted`() async {
    await #expect(processExitsWith: .success) { [path = folder.path("deleted") as String] in
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try #require(FileManager.default.changeCurrentDirectoryPath(path))
      try #require(rmdir(path) == 0)
      let error = #expect(throws: CommandFailure.self) { try Folder.made(at: ".") }
      #expect(error?.message?.hasPrefix("the path of the current folder is unknown") == true)
    }
  }

  @Test func `a folder that is a link to a missing one`() async throws {
    let (link, target) = (folder.path("link"), folder.path("nowhere"))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    for path in [link, "\(link)/sub"] {
      #expect(
        await message("get", "http://h/x", "--output-folder", path, status: .cannotCreate)
          == "\(link) is a link to \(target), which does not exist: create that folder, or remove the link"
      )
    }
    let loop = folder.path("loop")
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    #expect(
      await message("get", "http://h/x", "--output-folder", loop, status: .cannotCreate)
        == "cannot create the folder \(loop): Too many levels of symbolic links"
    )
  }

  private func permit(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  #if os(Linux)
    /// Runs the tool without the power of root to pass over the permissions of files, which another
    /// user does not have.
    ///
    /// Another user might not even reach the program in the folder of the build.
    private func otherUser(
      _ words: String,
      _ variables: String = ""
    ) async throws -> (status: Int32, output: String, messages: String) {
      let dropped = "setpriv --bounding-set=-dac_override,-dac_read_search "
      return try await DLStoreProcess.run(
        store: store,
        in: folder.path,
        shell: "\(variables)\(geteuid() == 0 ? dropped : "")dlstore \(words)"
      )
    }

    /// Takes a folder away from this user.
    private func giveAway(_ path: String) throws {
      if geteuid() == 0 {
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
      }
      try permit(geteuid() == 0 ? 0o700 : 0, path)
    }

    @Test func `a store of another user is named, with what to do`() async throws {
      _ = await dlstore("--store", store, "add", "http://h/a")
      try giveAway(store)
      defer { try? permit(0o700, store) }
      for words in ["list", "add http://h/b", "pause --all", "verify"] {
        let result = try await otherUser(words)
        #expect(result.status == 77)
        #expect(result.messages.hasPrefix("dlstore: "))
        #expect(
          result.messages.hasSuffix(
            "\(store): permission denied; run the command as the owner of the store, or name another "
              + "--store\n"
          ),
          "\(result.messages)"
        )
      }
    }

    @Test func `a removed download whose folder permits no deletion is kept, and no run waits`()
      async throws
    {
      let opened = try RecordStore(at: store)
      let record = try opened.addNow([DownloadRequest(url: "http://h/a")])[0].record
      let layout = try opened.roots().layout(of: record)
      let (files, partial) = (layout.folderPath, layout.partialPath)
      try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
      #expect(FileManager.default.createFile(atPath: partial, contents: Data("bytes".utf8)))
      try permit(0o555, files)
      defer { try? permit(0o755, files) }
      let text =
        "kept the record \(record.id): \(partial) cannot be deleted, because its folder does not "
        + "permit it: Permission denied; "
      let removed = try await otherUser("remove a")
      #expect(removed.status == 1 && removed.messages.contains(text), "\(removed.messages)")
      #expect(removed.messages.contains("purge \(record.id)"), "\(removed.messages)")
      let run = try await otherUser("run --until-idle")
      #expect(run.status == 0, "\(run.messages)")
      #expect(FileManager.default.fileExists(atPath: partial))
      try permit(0o755, files)
      #expect(try await otherUser("reconcile --apply").status == 0)
      #expect(try opened.records().isEmpty && !FileManager.default.fileExists(atPath: partial))
    }

    @Test func `a finished file in a folder that cannot be searched is not called changed`()
      async throws
    {
      let opened = try RecordStore(at: store)
      let record = try opened.addNow([DownloadRequest(url: "http://h/a")])[0].record
      let layout = try opened.roots().layout(of: record)
      let files = layout.folderPath
      try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
      try Data("bytes".utf8).write(to: URL(filePath: layout.finalPath))
      let identity = try #require(FileIdentity(ofFileAt: layout.finalPath))
      try await opened.objects.write { tx in
        _ = try tx.update(DownloadRecord.self, key: record.url) { record in
          record.state = .completed
          record.received = 5
          record.fileIdentity = identity
        }
      }
      try permit(0, files)
      defer { try? permit(0o755, files) }
      let list = try await otherUser("list --format csv --no-header --columns fileStatus")
      #expect(list.output == "missing\n", "\(list.messages)")
      #expect(try await otherUser("inspect a").output.contains("missing: \(layout.finalPath)\n"))
      let verify = try await otherUser("verify")
      #expect(verify.status == 65 && verify.output.contains("folderMissing: "), "\(verify.output)")
      let refresh = try await otherUser("refresh a")
      #expect(refresh.status == 1)
      let text = "the finished file cannot be examined"
      #expect(refresh.messages.contains(text), "\(refresh.messages)")
      #expect(!refresh.messages.contains("was changed"), "\(refresh.messages)")
      let removed = try await otherUser("remove a --with-file --yes")
      #expect(!removed.messages.contains("is not the downloaded file"), "\(removed.messages)")
      #expect(removed.messages.contains("cannot be examined"), "\(removed.messages)")
    }

    @Test func `a store that cannot be created names the folder that is not writable`()
      async throws
    {
      let parent = folder.path("parent")
      try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
      try permit(0o555, parent)
      defer { try? permit(0o755, parent) }
      let result = try await otherUser("--store \(parent)/s add http://h/x")
      #expect(result.status == 77)
      #expect(
        result.messages
          == "dlstore: \(parent)/s: there is no store here, and the folder \(parent) is not "
          + "writable; name another --store\n"
      )
      // As of a user without a home, whom containers often have.
      let variables = "HOME=\(parent)/home XDG_DATA_HOME= DLSTORE_STORE= "
      let homeless = try await otherUser("add http://h/x", variables)
      #expect(homeless.status == 77)
      #expect(
        homeless.messages.hasSuffix(
          ": there is no store here, and the folder \(parent) is not writable; name another one with "
            + "--store or $DLSTORE_STORE, or set HOME to a folder of this user\n"
        ),
        "\(homeless.messages)"
      )
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "this process may not mount a file system"))
    func `a backup to a full disk names the backup`() async throws {
      let disk = try #require(SmallDisk(kilobytes: 16))
      _ = await dlstore("--store", store, "add", "http://h/a")
      let copy = "\(disk.path)/copy"
      #expect(
        await message("backup", copy, status: .inputOutput)
          == "copying to \(copy): its disk is full, so no copy was made; free disk space or choose "
          + "another place"
      )
      #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test func `a folder of another user is named before the request`() async throws {
      let output = folder.path("output")
      try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
      try permit(0o555, output)
      defer { try? permit(0o755, output) }
      // The store is created before the first request, too.
      let get = "--store \(output)/s get http://h.invalid/x --output-folder \(output)"
      let result = try await otherUser(get)
      #expect(result.status == 77)
      let text = "dlstore: cannot write to the folder \(output): permission denied\n"
      #expect(result.messages == text)
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "this process may not mount a file system"))
    func `a store on a read-only file system can be listed but not changed`() async throws {
      let disk = try #require(SmallDisk(kilobytes: 1_024))
      let path = "\(disk.path)/store"
      // This process must have no file open when the file system becomes read-only.
      #expect(try await DLStoreProcess.run("add", "http://h/a", store: path).status == 0)
      try #require(disk.makeReadOnly())
      for words in [["list"], ["add", "http://h/b"]] {
        let result = await dlstore(["--store", path] + words)
        #expect(result.status == .permissionDenied)
        #expect(
          result.messages
            == "dlstore: opening \(path): the file system is read-only; the store cannot be changed "
            + "here, and commands that only read accept --immutable if no program writes it\n"
        )
      }
      #expect(await dlstore("--store", path, "list", "--immutable").output.contains("http://h/a"))
      let new = await dlstore("--store", "\(disk.path)/new", "add", "http://h/a")
      #expect(new.status == .cannotCreate)
      #expect(new.messages == "dlstore: \(disk.path)/new: the file system is read-only\n")
      let get = await dlstore(
        "--store",
        store,
        "get",
        "http://h/a",
        "--output-folder",
        disk.path
      )
      #expect(get.status == .permissionDenied)
      #expect(get.messages.hasSuffix("the folder \(disk.path): read-only file system\n"))
    }
  #endif

  @Test func `an ambiguous name is listed with the downloads that it may mean`() async throws {
    let urls = (1...40).map { "http://h/n\($0)" }
    _ = await dlstore(["--store", store, "add", "--paused"] + urls)
    let ids = await dlstore("--store", store, "list", "-q").lines.sorted()
    let digit = String(
      try #require(ids.first { id in ids.count { $0.first == id.first } > 3 }).prefix(1)
    )
    let text = await message("resume", digit, status: .failed)
    let start = "several downloads have an id that begins with '\(digit)': "
    #expect(text.hasPrefix(start) && text.contains("), …; give the id"), "\(text)")
    #expect(ids.count { $0.hasPrefix(digit) && text.contains("\($0) (n") } == 3, "\(text)")
    _ = await dlstore("--store", store, "add", "--folder", "f", "http://i/n1")
    let named = await message("resume", "n1", status: .failed)
    #expect(named.hasPrefix("several downloads have the file name 'n1': "))
    let listed = named.components(separatedBy: "; give the id")
    #expect(listed.count == 2 && listed[0].components(separatedBy: ", ").count == 2)
  }

  @Test func `a name that is taken is shown with its folder`() async {
    _ = await dlstore("--store", store, "add", "http://h/a")
    #expect(
      await message("add", "http://h/b", "-o", "a", "--if-exists", "fail", status: .failed)
        == "'\(store)/files/a' is already taken by a download or a file; choose another name"
    )
    _ = await dlstore("--store", store, "add", "http://h/b")
    #expect(
      await message("set", "http://h/b", "--filename", "a", status: .failed)
        == "'a' is already taken by a download or a file in the same folder; choose another name"
    )
  }

  @Test func `an import of another file`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    let junk = try folder.makeFile("junk", "junk")
    let text = await message("import", junk, status: .damaged)
    #expect(text.hasPrefix("cannot import \(junk): line 1: invalid JSON"), "\(text)")
    #expect(text.contains("; nothing was imported; ") && text.contains("--format aria2"), "\(text)")
    #expect(text.components(separatedBy: "line 1").count == 2, "\(text)")
  }

  @Test(arguments: [true, false])
  func `an export that is cut off, or is no text, is no list of URLs`(hasStore: Bool) async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    let export = await dlstore("--store", store, "export").output
    let cut = try folder.makeFile("cut", String(export.prefix { $0 != "[" }))
    let binary = try folder.makeFile("binary", "SQLite format 3\u{0}")
    let target = hasStore ? store : folder.path("new")
    let text = await dlstore("--store", target, "import", cut)
    #expect(text.status == .damaged)
    #expect(
      text.messages
        == "dlstore: cannot import \(cut): line 1: invalid JSON: the line ends in the middle of an "
        + "object: the file may be cut off; nothing was imported\n"
    )
    let other = await dlstore("--store", target, "import", binary)
    #expect(other.status == .damaged)
    #expect(other.messages == "dlstore: \(binary) is not an export: it is not a text file\n")
  }

  @Test func `an import that must not meet a known download names it once`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    let export = await dlstore("--store", store, "export").output
    let file = try folder.makeFile("all.jsonl", export)
    #expect(
      await message("import", file, "--if-known", "fail", status: .failed)
        == "cannot import line 2: an object of DownloadRecord with the same primary key exists: "
        + "http://h/a; nothing was imported; --if-known keep skips what the store has, and "
        + "--if-known replace replaces it"
    )
  }

  @Test func `an import of an aria2 session without downloads says so`() async throws {
    let empty = try folder.makeFile("empty", "")
    #expect(
      await message("import", "--format", "aria2", empty, status: .done)
        == "\(empty) contains no download: nothing was imported"
    )
  }

  @Test(arguments: [
    ["add", "--input-file"], ["get", "--input-file"], ["import", "--format=aria2"],
  ])
  func `a list that is an export or no text is refused before a line is used`(
    words: [String]
  ) async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    let export = await dlstore("--store", store, "export").output
    let file = try folder.makeFile("all.jsonl", export)
    let text = await message(words + [file], .usage)
    #expect(text.hasPrefix("\(file) is an export: 'dlstore import \(file) "), "\(text)")
    // The null byte comes after more than what is read at once.
    let lines = String(repeating: "http://h.invalid/b\n", count: 20_000)
    let binary = try folder.makeFile("binary", lines + "\u{0}")
    #expect(
      await message(words + [binary], .damaged)
        == "\(binary) is not a text file: it contains a null byte"
    )
    #expect(await dlstore("--store", store, "list", "--format", "jsonl").lines.count == 1)
  }

  @Test(arguments: ["https://h/x\n", "\u{FEFF}# mine\n\n  http://h/x\nhttp://h/y\n"])
  func `an import of a list of URLs names the command that reads one`(_ list: String) async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    let path = try folder.makeFile("my list", list)
    let text = await message("import", path, status: .damaged)
    let add = "'dlstore add --input-file '\\''\(path)'\\'' --store \(store)' adds them"
    #expect(text.hasPrefix("\(path) is a list of URLs, and not an export: "), "\(text)")
    #expect(
      text.contains("add --input-file ") && text.contains("--store \(store)"),
      "\(add) \(text)"
    )
  }

  @Test func `an export takes its file as a word, too, but no download`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    let path = folder.path("out.jsonl")
    let exported = await dlstore("--store", store, "export", path)
    #expect(exported.status == .done && exported.output.isEmpty)
    let all = await dlstore("--store", store, "export", "-").output
    #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) == all)
    let id = try RecordStore(at: store, access: .readOnly).record(matching: "http://h/a").id
    for name in [id, "http://h/a"] {
      let refused = await dlstore("--store", store, "export", name)
      #expect(refused.status == .usage)
      #expect(refused.messages.contains("'\(name)' is a download"), "\(refused.messages)")
    }
    #expect(await dlstore("--store", store, "export", path, "-o", "x").status == .usage)
  }

  @Test func `a backup to a name that exists, or without a parent`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    _ = try folder.makeFile("backup/x", "")
    let path = folder.path("backup")
    #expect(
      await message("backup", path, status: .cannotCreate)
        == "\(path) already exists: choose another name"
    )
    let missing = folder.path("none/backup")
    #expect(
      await message("backup", missing, status: .cannotCreate)
        == "\(missing) cannot be created: its parent is missing"
    )
    let file = try folder.makeFile("file", "") + "/x"
    for command in [["backup", file], ["backup", "--compact", file], ["export", "-o", file]] {
      #expect(
        await message(command, .cannotCreate)
          == "\(file) cannot be created: its parent is a file"
      )
    }
    let long = folder.path(String(repeating: "x", count: 300))
    let text = await message("backup", long, status: .inputOutput)
    #expect(text == "\(long): \(systemErrorText(ENAMETOOLONG))")
  }

  @Test func `a file that exists, resume data and documents that are none`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    let junk = try folder.makeFile("junk", "junk")
    #expect(
      await message("export", "-o", junk, status: .cannotCreate)
        == "\(junk) already exists: choose another name"
    )
    #expect(
      await message("resume-data", junk, status: .damaged)
        == "\(junk) is not usable resume data: it is not a property list"
    )
    #expect(
      await message("add", "--metalink", junk, status: .damaged)
        .hasPrefix("\(junk): not a Metalink document: line 1 ")
    )
  }

  @Test func `a purge without a terminal`() async {
    _ = await dlstore("--store", store, "add", "http://h/a")
    #expect(
      await message("purge", "--state", "waiting", status: .usage)
        == "standard input is not a terminal: pass --yes to remove, or --dry-run to preview"
    )
  }

  @Test func `a document on a host that does not exist`() async {
    let url = "http://no-such-host.invalid/x.meta4"
    #expect(
      await message("add", "--metalink", url, status: .unreachable)
        == "cannot fetch \(url): there is no host 'no-such-host.invalid'"
    )
  }
}
