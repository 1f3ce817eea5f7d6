import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

/// Many processes on one store: an engine, attempts to start a second one, ten `list --watch`, five
/// writers, and a `purge`.
///
/// It takes ten seconds; `DLSTORE_SOAK_SECONDS` sets another duration.
@Suite(.timeLimit(.minutes(10)))
struct SoakTests {
  private static let seconds =
    ProcessInfo.processInfo.environment["DLSTORE_SOAK_SECONDS"].flatMap(Int.init) ?? 10

  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
    var resource = Resource(.generated(byteCount: 200_000, seed: 1))
    resource.bytesPerSecond = 400_000
    for writer in 0..<5 {
      for number in 1...(100 * Self.seconds) { server.route("/\(writer)-\(number)", resource) }
    }
  }

  /// Starts a shell that runs commands once, and again until the time is over, and ends with their
  /// first failure.
  private func start(repeating commands: String) throws -> DLStoreProcess {
    let script = """
      end=$(($(date +%s) + \(Self.seconds))) n=0
      while :; do
      n=$((n + 1))
      \(commands)
      [ "$(date +%s)" -lt "$end" ] || exit 0
      done
      """
    return try DLStoreProcess([], store: store, in: folder.path, shell: script)
  }

  /// Starts a writer, which prints `kept URL PRIORITY` or `disposable URL` when a command that adds
  /// it has succeeded.
  private func startWriter(_ writer: Int) throws -> DLStoreProcess {
    try start(
      repeating: """
        url=\(server.url("/\(writer)-"))$n
        dlstore add "$url" --tag kept >>added && echo "kept $url $n" || exit 1
        dlstore set "$url" --priority $n --tag writer || exit 1
        if [ $((n % 3)) = 0 ]; then
          dlstore pause "$url" || exit 1
          if [ $((n % 2)) = 0 ]; then dlstore resume "$url" || exit 1; fi
        else
          dlstore add "$url-disposable" --paused --tag disposable >>added || exit 1
          echo "disposable $url-disposable"
        fi
        """
    )
  }

  /// Waits for a shell that must have succeeded, and returns the words of each line of its output.
  private func lines(of process: DLStoreProcess) async throws -> [[String]] {
    let deadline = ContinuousClock.now + .seconds(Self.seconds)
    while process.isRunning, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(50))
    }
    let status = try await process.status()
    #expect(status == 0, "\(process.output.suffix(500)) \(process.messages.suffix(2_000))")
    return process.output.split(separator: "\n").map { line in
      line.split(separator: " ").map(String.init)
    }
  }

  @Test func `many processes share a store without a failure or a lost record`() async throws {
    let first = try await DLStoreProcess.run(
      "add",
      "--paused",
      server.url("/first"),
      store: store
    )
    #expect(first.status == 0)
    let engine = try DLStoreProcess(["run"], store: store, in: folder.path)
    let lock = store + "/engine.lock"
    try await engine.wait {
      (try? String(contentsOfFile: lock, encoding: .utf8))?.isEmpty == false
    }
    let watchers = try (0..<10).map { number in
      let format = number.isMultiple(of: 2) ? "jsonl" : "table"
      return try DLStoreProcess(
        ["list", "--watch", "--format", format, "--limit", "20"],
        store: store,
        in: folder.path
      )
    }
    let writers = try (0..<5).map(startWriter)
    let purge = try start(
      repeating: "dlstore purge --tag disposable --orphans --yes || exit 1"
    )
    let second = try start(
      repeating: """
        dlstore run --until-idle
        status=$?
        [ $status = 75 ] || exit 1
        echo refused
        """
    )
    var kept: [String: Int32] = [:]
    var disposable: Set<String> = []
    for writer in writers {
      for words in try await lines(of: writer) {
        switch words.first {
        case "kept": kept[words[1]] = Int32(words[2])
        case "disposable": disposable.insert(words[1])
        default: break
        }
      }
    }
    // Writers may have added downloads after the last purge.
    let last = try DLStoreProcess(
      ["purge", "--tag", "disposable", "--yes"],
      store: store,
      in: folder.path
    )
    let purges = try await lines(of: purge) + lines(of: last)
    let removed = purges.filter { $0.first == "removed:" }.reduce(0) { $0 + (Int($1[1]) ?? 0) }
    let refusals = try await lines(of: second).count

    for watcher in watchers {
      #expect(watcher.isRunning && watcher.messages.isEmpty, "\(watcher.messages)")
      // One that has not begun does not handle the signal.
      try await watcher.wait { watcher.output.contains("-") || !watcher.isRunning }
      watcher.send(SIGINT)
      #expect(try await watcher.status() == 0, "\(watcher.messages)")
      #expect(watcher.output.contains("-"))
    }
    #expect(engine.isRunning)
    #expect(!engine.messages.contains("crashed") && !engine.messages.contains("failed"))
    engine.send(SIGTERM)
    #expect(try await engine.status() == 0, "\(engine.messages)")

    let records = try RecordStore(at: store, access: .readOnly)
    let stored = Dictionary(
      uniqueKeysWithValues: try records.records(DownloadRecord.all).map { ($0.url, $0) }
    )
    for (url, priority) in kept {
      let record = stored[url]
      #expect(record?.priority == priority && record?.tags == ["kept", "writer"], "\(url)")
    }
    #expect(removed == disposable.count && disposable.isDisjoint(with: stored.keys))
    #expect(stored.count == 1 + kept.count)
    #expect(kept.count >= 5 && refusals > 0 && removed >= 5)
    let problems = try records.objects.verify().problems
    #expect(problems.isEmpty, "\(problems)")
    let completed = stored.values.count { $0.state == .completed }
    print(
      "soak: \(stored.count + removed) records, \(completed) downloads completed, "
        + "\(removed) records purged, \(refusals) second engines refused"
    )
  }
}
