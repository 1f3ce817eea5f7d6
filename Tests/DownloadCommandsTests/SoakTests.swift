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
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer
  private let end: ContinuousClock.Instant

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
    let seconds =
      ProcessInfo.processInfo.environment["DLSTORE_SOAK_SECONDS"].flatMap(Int.init) ?? 10
    end = .now + .seconds(seconds)
  }

  /// The downloads that a writer has added, by the exit codes of its commands.
  private struct Written {
    /// The priority that each download was given last.
    var kept: [String: Int] = [:]
    /// Downloads that the purge may remove.
    var disposable: Set<String> = []
  }

  private var isOver: Bool { ContinuousClock.now >= end }

  /// Runs a command that must succeed, and returns its output.
  @discardableResult
  private func dlstore(_ arguments: String...) async throws -> String {
    let process = try DLStoreProcess(arguments, store: store, in: folder.path)
    let status = try await process.status()
    #expect(status == 0, "\(arguments): \(process.messages)")
    return process.output
  }

  private func write(_ writer: Int) async throws -> Written {
    var written = Written()
    var number = 0
    repeat {
      number += 1
      let path = "/\(writer)-\(number)"
      let url = server.url(path)
      var resource = Resource(.generated(byteCount: 200_000, seed: UInt64(number)))
      resource.bytesPerSecond = 400_000
      server.route(path, resource)
      try await dlstore("add", url, "--tag", "kept")
      try await dlstore("set", url, "--priority", "\(number)", "--tag", "writer-\(writer)")
      written.kept[url] = number
      if number % 3 == 0 {
        try await dlstore("pause", url)
        if number % 2 == 0 { try await dlstore("resume", url) }
      } else {
        let other = server.url(path + "-disposable")
        try await dlstore("add", other, "--paused", "--tag", "disposable")
        written.disposable.insert(other)
      }
    } while !isOver
    return written
  }

  /// Purges repeatedly, and returns the number of removed records.
  private func purge() async throws -> Int {
    var removed = 0
    repeat {
      let output = try await dlstore("purge", "--tag", "disposable", "--orphans", "--yes")
      let words = output.split(separator: "\n").last { $0.hasPrefix("removed: ") }?
        .split(separator: " ")
      removed += words.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0
    } while !isOver
    return removed
  }

  /// Starts engines that must be refused; returns their number.
  private func startSecondEngines() async throws -> Int {
    var refused = 0
    repeat {
      let process = try DLStoreProcess(["run", "--until-idle"], store: store, in: folder.path)
      let status = try await process.status()
      #expect(status == 75, "\(process.messages)")
      refused += 1
    } while !isOver
    return refused
  }

  @Test func `many processes share a store without a failure or a lost record`() async throws {
    try await dlstore("add", "--paused", server.url("/first"))
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
    async let purged = purge()
    async let refused = startSecondEngines()
    let writers = try await withThrowingTaskGroup(of: Written.self) { group in
      for writer in 0..<5 { group.addTask { try await write(writer) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let (removed, refusals) = try await (purged, refused)

    for watcher in watchers {
      #expect(watcher.isRunning && watcher.messages.isEmpty, "\(watcher.messages)")
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
    for (writer, written) in writers.enumerated() {
      #expect(!written.kept.isEmpty)
      for (url, priority) in written.kept {
        let record = stored[url]
        #expect(record?.priority == Int32(priority), "\(writer): \(url)")
        #expect(record?.tags.contains("kept") == true, "\(writer): \(url)")
      }
    }
    let disposable = writers.reduce(into: Set<String>()) { $0.formUnion($1.disposable) }
    let left = disposable.intersection(stored.keys)
    #expect(removed + left.count == disposable.count)
    #expect(stored.count == 1 + writers.reduce(0) { $0 + $1.kept.count } + left.count)
    #expect(refusals > 0 && removed > 0)
    let problems = try records.objects.verify().problems
    #expect(problems.isEmpty, "\(problems)")
    let completed = stored.values.count { $0.state == .completed }
    print(
      "soak: \(stored.count + removed) records, \(completed) downloads completed, "
        + "\(removed) records purged, \(refusals) second engines refused"
    )
  }
}
