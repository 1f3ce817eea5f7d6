import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands
@testable import DownloadServer

/// The commands that `dlstore --server` has a server run.
@Suite struct RemoteCommandTests {
  @Test(arguments: [
    ["list", "--state", "failed", "--format=json"], ["ls"], ["inspect", "8c2b", "--json"],
    ["add", "https://example.com/a", "-o", "sub/a.iso", "--tag", "x"], ["pause", "--all"],
    ["remove", "a.iso", "--with-file", "--yes"], ["stats", "--json"], ["limit"], ["limit", "2M"],
    ["cancel", "x", "-qy"], ["add", "-osub/a", "--priority", "-5", "--", "x"],
    ["list", "--", "-a"],
    ["list", "-q", "--tag", "--yes"], ["limit", "--", "2M"],
  ])
  func `commands about records are allowed`(arguments: [String]) throws {
    let command = try RemoteCommand(arguments)
    #expect(
      command.isChange == ["add", "pause", "remove", "cancel"].contains(command.name)
        || arguments.last == "2M"
    )
  }

  @Test(arguments: [
    ["run"], ["get", "https://example.com/a"], ["backup", "/tmp/x"], ["store", "models"],
    ["--store", "x"],
    [], ["list", "--watch"], ["list", "--store", "/other"], ["list", "--config=x"],
    ["add", "--input-file", "/etc/passwd"], ["add", "-i/etc/passwd"], ["add", "-"],
    ["add", "x", "--metalink", "/etc/passwd"], ["add", "x", "--cookie-file=c"],
    ["add", "x", "-o", "/etc/cron.d/x"], ["add", "x", "--output=/x"],
    ["add", "x", "--folder", "~/x"],
    ["add", "x", "-o/etc/x"], ["list", "--immutable"], ["inspect", "x", "--reveal-secrets"],
    ["add", "x", "-qi/etc/passwd"], ["add", "x", "-qi", "/etc/passwd"], ["add", "x", "-qo", "/x"],
    ["add", "x", "--tag", "a", "--adopt=f"], ["add", "x", "--dry-run"], ["list", "--help"],
    ["list", "--stat", "failed"], ["list", "-q-watch"], ["verify-file", "x"], ["cat", "x"],
    ["root", "set", "a", "/"],
  ])
  func `nothing else is, whoever asks`(arguments: [String]) {
    #expect(throws: RemoteCommand.Refusal.self) { try RemoteCommand(arguments) }
  }

  @Test func `the server runs the words as they were checked`() throws {
    let words = ["add", "-qoa b", "--priority", "-5", "x", "--tag", "--yes", "-H=A: b", "--", "-i"]
    #expect(
      try RemoteCommand(words).words(onStoreAt: "/s") == [
        "add", "--store", "/s", "-q", "--output=a b", "--priority=-5", "--tag=--yes",
        "--header=A: b", "--", "x", "-i",
      ]
    )
    #expect(try RemoteCommand(["ls"]).words(onStoreAt: "/s") == ["list", "--store", "/s"])
  }

  @Test(arguments: [
    (
      ["inspect", "a", "--reveal-secrets"], "--reveal-secrets of 'inspect'", "secrets do not leave"
    ),
    (["add", "x", "--metalink", "f"], "--metalink of 'add'", "reads no files"),
    (["list", "--watch"], "--watch of 'list'", "answers once"),
    (["get", "x"], "'get'", "needs the files of the store"),
  ])
  func `a refusal says which word is refused, why, and what names the server`(
    arguments: [String],
    subject: String,
    reason: String
  ) {
    let refusal = #expect(throws: RemoteCommand.Refusal.self) {
      try RemoteCommand(arguments, server: "DLSTORE_SERVER")
    }
    let message = refusal?.message ?? ""
    #expect(message.hasPrefix(subject) && message.contains(reason), "\(message)")
    #expect(message.contains("DLSTORE_SERVER") && !message.contains("--server"), "\(message)")
  }

  @Test func `a command has the output and the exit code that it has on that machine`() async throws
  {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    for arguments in [
      ["list"], ["add", "https://example.com/a?token=hush", "--tag", "x"], ["list"],
      ["list", "--format", "json"], ["list", "--state", "nothing"], ["inspect", "nothing"],
      ["inspect", "a", "--json"], ["pause", "a"], ["pause", "a", "b"], ["stats"],
      ["remove", "--all"], ["list", "--sort", "wrong"], ["list", "--", "a"], ["list", "-qa"],
      ["add", "-ob.bin", "--priority", "-5", "https://example.com/b"], ["list", "--tag"],
    ] {
      let words = [arguments[0], "--store", store] + arguments.dropFirst()
      let local = await dlstore(try DLStoreCommand.separatingValues(in: words))
      let remote = await RemoteExecution.run(arguments, onStoreAt: store, mayChange: true)
      #expect(remote.status == local.status.rawValue, "\(arguments)")
      // The second run of a change changes nothing.
      if ["list", "inspect"].contains(arguments[0]) {
        #expect(remote.output == local.output, "\(arguments)")
        // The harness of the tests prints errors of the parser in another way than the program.
        // The path of the store is none of the client's machine.
        let messages = local.messages.replacing(" --store \(store)", with: "")
        #expect(remote.status == 64 || remote.messages == messages, "\(arguments)")
      }
    }
    let refused = await RemoteExecution.run(["pause", "a"], onStoreAt: store, mayChange: false)
    #expect(refused.status == 64 && refused.messages.contains("POST"))
  }

  @Test func `a list of a client is added as one of this machine is`() async throws {
    let folder = try TemporaryFolder()
    let list = try folder.makeFile("list", "https://h/other\n")
    let text = """
      https://h/a\thttps://m/a
        out=x/b.bin
        dir=/etc
      nonsense
      https://h/c
        dir=.ssh

      """
    let store = folder.path("store")
    let remote = await RemoteExecution.run(
      ["add", "-i", list, "--tag", "t"],
      input: Array(text.utf8),
      onStoreAt: store,
      mayChange: true
    )
    #expect(remote.status == 1)
    for message in ["\(list):1: skipped dir=/etc", "\(list):4: 'nonsense'", "hidden"] {
      #expect(remote.messages.contains(message), "\(remote.messages)")
    }
    let stored = try RecordStore(at: store).records(DownloadRecord.all)
    #expect(stored.map(\.url) == ["https://h/a"])
    #expect(stored.map(\.mirrors) == [["https://m/a"]] && stored.map(\.folder) == ["x"])
  }

  @Test func `lines that are not UTF-8 have the effect that they have on this machine`()
    async throws
  {
    let folder = try TemporaryFolder()
    let bytes =
      Array("https://h/caf".utf8) + [0xE9] + Array("\n out=".utf8) + [0xE9]
      + Array("\n# ".utf8) + [0xE9] + Array("\n".utf8) + [0xE9] + Array("\nhttps://h/b\n".utf8)
    let list = folder.path("list")
    try Data(bytes).write(to: URL(filePath: list))
    let local = await dlstore("--store", folder.path("local"), "add", "-i", list)
    let remote = await RemoteExecution.run(
      ["add", "-i", list],
      input: bytes,
      onStoreAt: folder.path("remote"),
      mayChange: true
    )
    #expect(remote.status == 1 && local.status == .failed)
    for message in [
      "\(list):2: skipped a file name that is not UTF-8", "\(list):4: this line is neither",
    ] {
      #expect(remote.messages.contains(message), "\(remote.messages)")
      #expect(local.messages.contains(message), "\(local.messages)")
    }
    for name in ["local", "remote"] {
      let stored = try RecordStore(at: folder.path(name)).records(DownloadRecord.all)
      #expect(Set(stored.map(\.url)) == ["https://h/b", "https://h/caf%E9"], "\(name)")
    }
  }

  @Test(arguments: [
    ["add", "https://example.com/a", "--folder", ".ssh"],
    ["add", "https://example.com/a", "--folder=b/.ssh/c"],
    ["add", "https://example.com/a", "-o", "b/.ssh/a"],
  ])
  func `no command of a client adds to a hidden folder, however it is named`(
    arguments: [String]
  ) async throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    _ = await RemoteExecution.run(["add", "https://h/b"], onStoreAt: store, mayChange: true)
    let remote = await RemoteExecution.run(arguments, onStoreAt: store, mayChange: true)
    let listed = await dlstore("list", "--store", store, "--format", "json")
    #expect(remote.status != 0 && remote.messages.contains("hidden"), "\(remote.messages)")
    #expect(!listed.output.contains("example.com"), "\(listed.output)")
    // A user of the machine may.
    let local = await dlstore([arguments[0], "--store", store] + arguments.dropFirst())
    #expect(local.status == .done, "\(local.messages)")
  }

  @Test func `commands that wait for the store leave Swift's threads to others`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("store")
    let store = try RecordStore(at: path)
    let (entries, entered) = AsyncStream<Void>.makeStream()
    let end = DispatchSemaphore(value: 0)
    let writing = inThread {
      try store.objects.write { _ in
        entered.yield()
        end.wait()
      }
    }
    for await _ in entries { break }
    let commands = (0..<ProcessInfo.processInfo.activeProcessorCount).map { number in
      Task {
        await RemoteExecution.run(["add", "https://h/\(number)"], onStoreAt: path, mayChange: true)
      }
    }
    // If each thread of the pool waited for the store, none of these tasks would run.
    for _ in 0..<1_000 { await Task { await Task.yield() }.value }
    end.signal()
    for try await _ in writing {}
    for command in commands {
      let answer = await command.value
      #expect(answer.status == 0, "\(answer.messages)")
    }
    #expect(try store.records().count == commands.count)
  }
}
