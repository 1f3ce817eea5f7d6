import ArgumentParser
import Dispatch
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore

/// Measures how soon an engine reacts to a command from another process.
@main
struct CommandLatencyCommand: AsyncParsableCommand {
  /// The role of this process.
  enum Role: String, ExpressibleByArgument {
    /// Runs an engine, starts the other processes, and prints the figures.
    case engine
    /// Pauses and resumes a download, as `dlstore pause` and `dlstore resume` do.
    case writer
    /// Reads the store after each commit, as `dlstore list --watch` does.
    case observer
  }

  static let configuration = CommandConfiguration(
    commandName: "command-latency",
    abstract: "Measures how soon an engine reacts to a command from another process."
  )

  @Option(help: "The number of commands to measure.")
  var commands = 1_000

  @Option(help: "The number of other processes that observe the store.")
  var observers = 10

  @Option(help: "The file for the figures in JSON.")
  var json = ".build/commands.json"

  @Option(help: .hidden)
  var role = Role.engine

  @Option(help: .hidden)
  var store = ""

  func run() async throws {
    switch role {
    case .engine: try await measure()
    case .writer: try await write()
    case .observer: try await observe()
    }
  }

  private func measure() async throws {
    var report = Report(commands: commands)
    for count in [0, observers] {
      let delays = try await delays(observers: count).sorted()
      report.rows.append(Report.Row(observers: count, sortedDelays: delays))
    }
    try report.write(to: URL(filePath: json))
  }

  /// Measures the time from the return of each command to the engine's call of its transport, in
  /// nanoseconds.
  private func delays(observers count: Int) async throws -> [Int64] {
    let path = URL(filePath: NSTemporaryDirectory())
      .appending(path: "command-latency-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try RecordStore(at: path)
    try await store.add([DownloadRequest(url: "https://example.com/file")])
    let transport = TimedTransport()
    let engine = try DownloadEngine(store: store, transport: transport)
    let run = Task { try await engine.run(until: .stopped) }
    let others = try (0..<count).map { _ in try OtherProcess(.observer, store: path, commands) }
    for other in others { _ = other.readLine() }
    let writer = try OtherProcess(.writer, store: path, commands)
    // The first call starts the download.
    var calls = transport.calls.makeAsyncIterator()
    _ = await calls.next()
    var delays: [Int64] = []
    for _ in 0..<commands {
      writer.proceed()
      guard let call = await calls.next(), let line = writer.readLine(), let done = Int64(line)
      else { throw ExitCode.failure }
      delays.append(call - done)
    }
    for other in others + [writer] { other.end() }
    engine.stop()
    _ = try await run.value
    return delays
  }

  private func write() async throws {
    let store = try RecordStore(at: store)
    for index in 0..<commands {
      guard readLine() != nil else { return }
      // Vary the phase, so that commands do not coincide with the engine's regular checks.
      usleep(.random(in: 0...20_000))
      if index.isMultiple(of: 2) {
        try await store.pause(.all)
      } else {
        try await store.resume(.all)
      }
      print(DispatchTime.now().uptimeNanoseconds)
      fflush(nil)
    }
    _ = readLine()
  }

  private func observe() async throws {
    let store = try RecordStore(at: store, access: .readOnly)
    print("ready")
    fflush(nil)
    for try await _ in store.objects.commits {
      _ = try await store.objects.read { tx in try tx.fetch(DownloadRecord.all) }
    }
  }
}

/// The figures of a run, in milliseconds.
private struct Report: Encodable {
  struct Row: Encodable {
    let observers: Int
    let median: Double
    let p99: Double
    let maximum: Double

    /// The delays are in nanoseconds and in increasing order; there is at least one.
    init(observers: Int, sortedDelays delays: [Int64]) {
      func milliseconds(_ index: Int) -> Double { Double(delays[index] / 10_000) / 100 }
      self.observers = observers
      median = milliseconds(delays.count / 2)
      p99 = milliseconds(delays.count * 99 / 100)
      maximum = milliseconds(delays.count - 1)
    }
  }

  let commands: Int
  var rows: [Row] = []

  /// Prints the figures and writes them to a file.
  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let data = try encoder.encode(self)
    print(String(decoding: data, as: UTF8.self))
    try data.write(to: file)
  }
}
