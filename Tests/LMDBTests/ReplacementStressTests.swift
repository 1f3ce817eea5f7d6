import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LMDB

/// Processes that open, write, read and replace one environment, which are delayed, stopped and
/// killed at random steps.
///
/// `DLSTORE_REPLACEMENTS` sets the number of processes that run one after the other in each role.
@Suite(.timeLimit(.minutes(10))) struct ReplacementStressTests {
  private static let lives =
    ProcessInfo.processInfo.environment["DLSTORE_REPLACEMENTS"].flatMap { Int($0) } ?? 3
  private static let rounds = 60
  static let roles = ["writer", "writer", "reader", "reader", "replacer", "replacer"]

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder(inMemory: true)
    try FileManager.default.createDirectory(
      atPath: folder.path("store"),
      withIntermediateDirectories: false
    )
    let environment = try Environment.open(folder.path("store"))
    let database = try environment.database("acknowledged")
    try environment.write { try $0.put("first", for: "first", in: database) }
  }

  /// Delays this process at random steps, and kills it at few of them.
  private static func disturb(_ generator: borrowing Mutex<SplitMix64>) {
    let number = generator.withLock { $0.next() }
    if number % 3 == 0 { usleep(UInt32(number >> 8 & 0x7FF)) }
    if number >> 20 & 0x1FF == 0 { kill(getpid(), SIGKILL) }
  }

  /// Appends a line to a file, which the test reads when the process has ended.
  private static func append(_ line: String, to path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
    close(descriptor)
  }

  private static func lines(of path: String) -> [String] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    // A process may have been killed while it wrote the last line.
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  private static func run(_ role: String, _ round: Int, in path: String, _ log: String) throws {
    switch role {
    case "writer":
      let environment = try Environment.open(path)
      let database = try environment.database("acknowledged")
      let key = "\(getpid()) \(round)"
      try environment.write { try $0.put("", for: key, in: database) }
      append(key, to: log)
    case "reader":
      let known = lines(of: log)
      let environment = try Environment.open(path, options: EnvironmentOptions(isReadOnly: true))
      let snapshot = try environment.beginRead()
      guard let database = try snapshot.openDatabase("acknowledged") else {
        append("no database", to: log + ".lost")
        return
      }
      for key in known where try snapshot.string(for: key, in: database) == nil {
        append("\(key) in a read", to: log + ".lost")
      }
    default: try Environment.compact(path)
    }
  }

  /// Runs a process until it kills itself.
  private func runProcess(_ role: String, seed: UInt64) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        role = role as String, seed = seed as UInt64, path = folder.path("store") as String,
        log = folder.path("log") as String, rounds = Self.rounds as Int,
      ] in
      Self.append("\(getpid())", to: log + ".pids")
      let random = Mutex(SplitMix64(seed: seed))
      ReplacementStep.$observer.withValue(
        { _ in Self.disturb(random) },
        operation: {
          for round in 0..<rounds {
            do {
              try Self.run(role, round, in: path, log)
            } catch let error as LMDBError where error.code == .busy {
              // A replacement does not wait, and a writer may meet a process that was killed.
            } catch {
              Self.append("\(role): \(error)", to: log + ".lost")
            }
          }
        }
      )
      kill(getpid(), SIGKILL)
    }
  }

  @Test func `no acknowledged commit is lost while processes are delayed, stopped and killed`()
    async throws
  {
    let pids = folder.path("log.pids")
    let isDone = Flag()
    let interruptions = inThread {
      var generator = SplitMix64(seed: 1)
      while !isDone.isSet {
        usleep(UInt32(generator.next() % 2_000))
        // Also stops a process between the system calls of LMDB.
        let running = Self.lines(of: pids).suffix(Self.roles.count).compactMap { pid_t($0) }
        guard let pid = running.randomElement(using: &generator) else { continue }
        kill(pid, SIGSTOP)
        usleep(UInt32(generator.next() % 5_000))
        kill(pid, SIGCONT)
      }
    }
    await withTaskGroup { group in
      for (index, role) in Self.roles.enumerated() {
        group.addTask {
          for life in 0..<Self.lives { await runProcess(role, seed: UInt64(index * 100 + life)) }
        }
      }
    }
    isDone.set()
    for try await _ in interruptions {}
    #expect(Self.lines(of: folder.path("log.lost")) == [])
    let environment = try Environment.open(folder.path("store"))
    try environment.checkPages()
    let snapshot = try environment.beginRead()
    let database = try #require(try snapshot.openDatabase("acknowledged"))
    let acknowledged = Self.lines(of: folder.path("log"))
    #expect(!acknowledged.isEmpty)
    for key in acknowledged + ["first"] {
      #expect(try snapshot.string(for: key, in: database) != nil, "\(key) was lost")
    }
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }
}
