import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Hooks of downloads that change while their hooks wait for a place.
@Suite(.timeLimit(.minutes(10)))
struct HookRunnerTests {
  private let folder: TemporaryFolder
  private let store: RecordStore

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    let requests = (0...HookQueue.maximumRunning).map {
      DownloadRequest(url: "https://example.com/\($0)")
    }
    for added in try store.addNow(requests) {
      try change(added.record.url) {
        $0.state = .completed
        $0.pendingHooks = [.completion]
      }
    }
  }

  private func change(_ url: String, _ change: (inout DownloadRecord) -> Void) throws {
    try store.objects.write { tx in _ = try tx.update(DownloadRecord.self, key: url, change) }
  }

  /// The keys of the hooks that have begun, in order.
  private var keys: [String] {
    let text = try? String(contentsOfFile: folder.path("keys"), encoding: .utf8)
    return text?.split(separator: "\n").map(String.init) ?? []
  }

  /// Runs the hooks of all downloads, changes the one whose hook waits, and returns its record and the
  /// keys of all hooks that ran.
  private func run(
    _ change: (inout DownloadRecord) -> Void
  ) async throws -> (changed: DownloadRecord, keys: [String]) {
    let command = """
      echo "$DLSTORE_KEY" >> '\(folder.path("keys"))'
      while [ ! -e '\(folder.path("go"))' ]; do sleep 0.02; done
      """
    let runner = HookRunner(
      store: store,
      actions: HookActions(commands: [.completion: UserCommand(text: command)]),
      scope: nil
    )
    let run = Task { await runner.run() }
    while keys.count < HookQueue.maximumRunning { try await Task.sleep(for: .milliseconds(5)) }
    let begun = keys
    let waiting = try #require(
      try store.records(DownloadRecord.all).first { record in
        !begun.contains { $0.hasPrefix(record.id) }
      }
    )
    try self.change(waiting.url, change)
    try folder.makeFile("go")
    runner.finish()
    #expect(await run.value == 0)
    #expect(try store.records(awaiting: .completion).isEmpty)
    return (try store.record(matching: waiting.id), keys)
  }

  @Test func `the hook of a download that has ended again has the key of the later end`()
    async throws
  {
    let (record, keys) = try await run { $0.generation += 1 }
    #expect(keys.count == HookQueue.maximumRunning + 1)
    #expect(keys.last == record.endKey)
  }

  @Test func `a hook that is left names its file, and the command that repeats it`() async throws {
    let command = """
      touch '\(folder.path("begun"))'
      while [ ! -e '\(folder.path("go"))' ]; do sleep 0.02; done
      exit 3
      """
    let runner = HookRunner(
      store: store,
      actions: HookActions(commands: [.completion: UserCommand(text: command)]),
      scope: ["https://example.com/0"],
      // The command ends by itself, and is not ended because the machine is busy.
      stopPatience: .seconds(3_600)
    )
    let folder = folder
    let result = await CommandResult.of(DLStoreCommand.program()) { _ in
      let run = Task { await runner.run() }
      while !FileManager.default.fileExists(atPath: folder.path("begun")) {
        try? await Task.sleep(for: .milliseconds(5))
      }
      runner.stop()
      _ = try? folder.makeFile("go")
      _ = await run.value
      return .done
    }
    #expect(
      result.messages
        == "dlstore: --on-complete failed for 0: the command exited with 3; 'dlstore run --on-complete "
        + "COMMAND' repeats it\n"
    )
  }

  @Test func `wake-ups are joined until they are noticed`() {
    let flag = WakeFlag()
    #expect(flag.set())
    #expect(!flag.set())
    flag.clear()
    #expect(flag.set())
  }

  @Test(arguments: [0, 2_000])
  func `only hooks of the scope run`(_ others: Int) async throws {
    let runner = HookRunner(
      store: store,
      actions: HookActions(
        commands: [.completion: UserCommand(text: "echo $DLSTORE_KEY >> '\(folder.path("keys"))'")]
      ),
      scope: (1...2).map { "https://example.com/\($0)" }
        + (0..<others).map { "https://example.com/unknown/\($0)" }
    )
    for _ in 0..<100 { runner.wake() }
    runner.finish()
    #expect(await runner.run() == 0)
    #expect(keys.count == 2)
    #expect(try store.records(awaiting: .completion).count == HookQueue.maximumRunning - 1)
  }

  @Test func `the hook of a download that was restarted does not run`() async throws {
    let (record, keys) = try await run { $0.pendingHooks = [] }
    #expect(keys.count == HookQueue.maximumRunning)
    #expect(!keys.contains { $0.hasPrefix(record.id) })
  }
}
