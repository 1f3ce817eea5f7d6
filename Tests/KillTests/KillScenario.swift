import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

/// A store, a server that injects faults, and the guarantees that must hold after each kill.
final class KillScenario {
  private static let immediately = 4

  let storePath: String
  /// The arguments of an engine.
  var engineArguments: [String] { ["--store", storePath, "run"] + connectionArguments }
  private let connectionArguments: [String]
  /// Whether files are downloaded over several connections.
  let hasParts: Bool
  private let folder: URL
  let server: FaultServer
  private let store: RecordStore
  /// By path, the first version of each file.
  var bodies: [String: Body] = [:]
  /// By path and entity tag, the versions of the files that change on the server.
  var versions: [String: [String: Body]] = [:]
  /// The paths whose server lies, so that counted bytes may be dropped.
  var mayLose: Set<String> = []
  /// The paths that have a record.
  private var known: Set<String> = []
  /// The paths whose record is deleted, or will be once an engine has run.
  private var removed: Set<String> = []
  /// By path, the committed bytes after the last kill.
  private var promised: [String: ByteRanges] = [:]
  /// By path, the identity of a finished file whose bytes were verified.
  private var compared: [String: FileIdentity] = [:]
  /// The files that may remain without a record: files left to the user, and the second name of a
  /// file whose rename was killed.
  private var mayStay: Set<String> = []
  /// By path, the finished file that `restart` must keep until the new one is complete.
  private var replaced: [String: (fileIdentity: FileIdentity, place: String)] = [:]
  /// The paths that a command was to pause.
  private var held: Set<String> = []
  private var running: (command: KillCommand, hasEnded: Bool)?
  /// By path, the commands applied to it, for failure messages.
  private var commands: [String: [String]] = [:]
  private var checkedRequests = 0
  private var logs = 0
  private var names = 0

  /// Creates a scenario.
  ///
  /// - Parameter connections: The number of connections per file. With more than one, some servers
  ///   lie about ranges, and some change their file.
  /// - Throws: Errors of the file system and the store.
  init(connections: Int) throws {
    hasParts = connections > 1
    connectionArguments =
      hasParts
      ? [
        "--connections", "\(connections)", "--min-split", "100K", "--max-concurrent", "32",
        "--per-host", "32",
      ] : []
    folder = FileManager.default.temporaryDirectory.appending(path: "kills-\(UUID().uuidString)")
    storePath = folder.appending(path: "store").path
    server = try FaultServer()
    store = try RecordStore(at: storePath)
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Returns a new file for the output of a process.
  func log() -> String {
    logs += 1
    return folder.appending(path: "log-\(logs)").path
  }

  /// Adds downloads, so that there is always a transfer to kill.
  func keepBusy() throws {
    let open = try store.records(
      DownloadRecord.where { $0.state.isIn(DownloadState.active) }
    )
    .filter { $0.intent == .run }
    for _ in open.count..<max(open.count, Self.immediately) {
      let path = makePath()
      try store.addNow([DownloadRequest(url: server.url(path))])
      known.insert(path)
    }
  }

  // MARK: Commands

  /// Returns a random command of a kind, or `nil` if no record is in a state that it can change.
  func command(
    _ kind: KillCommand.Kind,
    using random: inout some RandomNumberGenerator
  ) throws -> KillCommand? {
    if kind == .add {
      let paths = (0..<3).map { _ in makePath() }
      return KillCommand(kind: kind, arguments: ["add"] + paths.map(server.url), paths: paths)
    }
    let records = try self.records()
    let states: [DownloadState] =
      switch kind {
      case .add, .set, .remove: DownloadState.allCases
      case .pause, .cancel: [.waiting, .running, .failedRetryable]
      case .resume, .purge: [.paused]
      case .restart: [.completed, .running, .cancelled, .paused]
      }
    let candidates = records.filter { path, record in
      states.contains(record.state) && !removed.contains(path)
    }
    .sorted { $0.key < $1.key }
    guard let (path, record) = candidates.randomElement(using: &random) else { return nil }
    var command = KillCommand(
      kind: kind,
      arguments: [kind.rawValue, record.url],
      paths: [path],
      before: [path: record]
    )
    switch kind {
    case .set:
      names += 1
      command.filename = "name-\(names)"
      command.priority = Int32(names)
      command.arguments += [
        "--filename", command.filename, "--priority", "\(names)", "--tag", "tag-\(names)",
      ]
      // Killing the rename of a finished file may leave both names.
      let layout = try store.roots().layout(of: record)
      mayStay.formUnion([layout.finalPath, "\(layout.folderPath)/\(command.filename)"])
    case .remove:
      command.withFile = Bool.random(using: &random)
      if command.withFile { command.arguments.append("--with-file") }
    case .purge:
      command.arguments = ["purge", "--state", "paused", "--yes"]
      command.paths = candidates.map(\.key)
      command.before = Dictionary(uniqueKeysWithValues: candidates)
    case .pause: held.insert(path)
    case .add, .cancel, .restart, .resume: break
    }
    return command
  }

  /// Records a command for the following checks.
  func note(_ command: KillCommand, hasEnded: Bool) {
    running = (command, hasEnded)
    for path in command.paths {
      let end = hasEnded ? "ended" : "killed"
      commands[path, default: []].append("\(command.kind.rawValue) \(end)")
    }
  }

  /// Expects a killed command to have taken effect as a whole or not at all, and a finished command
  /// to have taken effect.
  private func checkAtomicity(_ records: [String: DownloadRecord], _ kill: String) throws {
    guard let (command, hasEnded) = running else { return }
    running = nil
    let paths = command.paths
    switch command.kind {
    case .add:
      let count = paths.count { records[$0] != nil }
      #expect(count == paths.count || (count == 0 && !hasEnded), "\(kill): \(command)")
      if count > 0 { known.formUnion(paths) }
    case .purge:
      let count = paths.count { records[$0] == nil }
      #expect(count == paths.count || (count == 0 && !hasEnded), "\(kill): \(command)")
      // A paused download that no engine had handled yet is purged with the others.
      if count > 0 { removed.formUnion(held.filter { records[$0] == nil }) }
      // The previous file of a restarted record is left to the user.
      for path in removed { if let file = replaced[path]?.place { mayStay.insert(file) } }
    case .pause, .resume, .cancel, .remove, .restart, .set:
      guard let path = paths.first, let before = command.before[path] else { return }
      try checkAtomicity(command, path, before, records[path], hasEnded: hasEnded, kill)
    }
  }

  private func checkAtomicity(
    _ command: KillCommand,
    _ path: String,
    _ before: DownloadRecord,
    _ after: DownloadRecord?,
    hasEnded: Bool,
    _ kill: String
  ) throws {
    guard let after, after.intent != .remove else {
      #expect(command.kind == .remove, "\(kill): \(path) is gone after \(command.arguments)")
      removed.insert(path)
      let layout = try store.roots().layout(of: after ?? before)
      if !command.withFile { mayStay.insert(layout.finalPath) }
      return
    }
    // A download that has completed in the meantime cannot be paused, resumed or cancelled.
    let hasFinished = [.completed, .finalizing].contains(after.state)
    let hasHappened: Bool
    switch command.kind {
    case .remove: hasHappened = false
    case .pause:
      // Pausing does not undo a cancel that was killed before it was carried out.
      let isCancelled = before.intent == .cancel && after.intent == .cancel
      hasHappened = after.intent == .pause || hasFinished || isCancelled
    case .resume: hasHappened = after.intent == .run
    case .cancel:
      hasHappened = after.intent == .cancel || hasFinished
      if after.intent == .cancel { promised[path] = nil }
    case .restart:
      hasHappened =
        after.intent == .run
        && (before.state != .completed || after.completedAt != before.completedAt)
      promised[path] = nil
      if before.state == .completed, after.state != .completed,
        let fileIdentity = before.fileIdentity
      {
        replaced[path] = (fileIdentity, try store.roots().layout(of: before).finalPath)
      }
    case .set:
      let isNew = [
        after.filename == command.filename, after.priority == command.priority,
        after.tags.contains("tag-\(command.priority)"),
      ]
      hasHappened = isNew.allSatisfy { $0 }
      #expect(hasHappened || !isNew.contains(true), "\(kill): half of \(command.arguments)")
      #expect(hasHappened || after.filename == before.filename, "\(kill): \(after)")
    case .add, .purge: return
    }
    #expect(hasHappened || !hasEnded, "\(kill): \(command.arguments) left \(after)")
  }

  // MARK: Guarantees

  private func records() throws -> [String: DownloadRecord] {
    let prefix = server.url("").count
    return Dictionary(
      uniqueKeysWithValues: try store.records(DownloadRecord.all).map {
        (String($0.url.dropFirst(prefix)), $0)
      }
    )
  }

  /// Checks the guarantees that must hold right after a kill.
  func checkGuarantees(after kill: String) throws {
    // A process killed in the last system call of its commit has committed, but readers see that
    // only after the next writer has recovered the mutex.
    try store.objects.write { _ in }
    let records = try self.records()
    let before = promised
    try checkAtomicity(records, kill)
    // The requests of the killed run must respect the bytes committed before it.
    let requests = server.requests
    for request in requests[checkedRequests...] where !mayLose.contains(request.target) {
      let asked = ByteRanges([Self.range(of: request["Range"])])
      // A command may have dropped the bytes.
      let safe = (before[request.target] ?? ByteRanges())
        .intersection(promised[request.target] ?? ByteRanges())
      #expect(
        safe.intersection(asked).isEmpty,
        "\(kill): \(request.target) was asked for \(asked), \(safe) was safe"
      )
    }
    checkedRequests = requests.count
    let roots = try store.roots()
    for path in known.subtracting(removed).sorted() {
      guard let record = records[path], let body = body(of: record, path) else {
        Issue.record("\(kill): the record of \(path) is missing: \(commands[path, default: []])")
        continue
      }
      try checkGuarantees(record, roots.layout(of: record), path, body, kill)
    }
  }

  private func checkGuarantees(
    _ record: DownloadRecord,
    _ layout: FileLayout,
    _ path: String,
    _ body: Body,
    _ kill: String
  ) throws {
    #expect(record.state != .failedPermanent, "\(kill): \(record.attempts)")
    let facts = FileInspection(of: record, in: layout)
    if record.state == .completed {
      #expect(facts.final == .ours, "\(kill): \(path) is complete, its file is \(facts.final)")
      replaced[path] = nil
    } else if let (fileIdentity, place) = replaced[path],
      record.intent == .run || record.intent == .pause,
      facts.final != .ours
    {
      // A rename before the new file is complete keeps the previous file in place.
      let isThere = [layout.finalPath, place].contains {
        FileIdentity(ofFileAt: $0) == fileIdentity
      }
      let said = commands[path, default: []]
      #expect(isThere, "\(kill): the previous file of \(path) is gone: \(said) \(record)")
    }
    if record.intent == .cancel {
      promised[path] = nil
      return
    }
    let file =
      record.state == .completed || facts.final == .ours ? layout.finalPath : layout.partialPath
    let fileIdentity = FileIdentity(ofFileAt: file)
    #expect(record.isConsistent, "\(kill): \(record)")
    let counted = record.committed
    #expect(fileIdentity?.size ?? 0 >= counted.end, "\(kill): \(record)")
    // A verified file that has not changed since is not read again after each kill.
    if record.state != .completed || fileIdentity == nil || fileIdentity != compared[path] {
      #expect(
        try Self.bytes(counted, of: file, match: body),
        "\(kill): bytes on disk differ from those of \(path), \(counted)"
      )
    }
    compared[path] = record.state == .completed ? fileIdentity : nil
    let safe = mayLose.contains(path) ? nil : promised[path]
    #expect(
      safe.map { $0.intersection(counted) == $0 } ?? true,
      "\(kill): \(counted) of \(safe.map { "\($0)" } ?? ""): \(record)"
    )
    promised[path] = counted
  }

  // MARK: Completion

  /// Runs an engine until it is idle, and checks all records and files.
  func finish() async throws {
    let run = ["run", "--until-idle"] + connectionArguments
    for arguments in [run, ["resume", "--all"], run] {
      let code = try await BuiltProcess.run(["--store", storePath] + arguments, output: log())
      #expect(code == 0, "\(arguments)")
    }
    let roots = try store.roots()
    let records = try self.records()
    #expect(Set(records.keys) == known.subtracting(removed))
    var files: Set<String> = []
    for (path, record) in records {
      let layout = try roots.layout(of: record)
      #expect([.completed, .cancelled].contains(record.state), "\(record)")
      guard record.state == .completed else {
        #expect(FileIdentity(ofFileAt: layout.partialPath) == nil, "\(path) was cancelled")
        // A cancelled restart keeps the previous file.
        files.insert(layout.finalPath)
        continue
      }
      #expect(body(of: record, path)?.matches(file: layout.finalPath) == true, "\(path)")
      files.insert(layout.finalPath)
    }
    // Every other file has a record or was left to the user.
    let orphans = try store.orphanPlan(graceSeconds: -60)
    #expect(try store.purge(orphans).keptFiles == [])
    let standard = try #require(roots.path(of: RootName.standard))
    let left = try FileManager.default.contentsOfDirectory(atPath: standard)
      .map { "\(standard)/\($0)" }
    for file in Set(left).subtracting(files).subtracting(mayStay).sorted() {
      let said = commands["/\(URL(filePath: file).lastPathComponent)", default: []]
      Issue.record("\(file) belongs to no record: \(said)")
    }
    #expect(try store.objects.verify().isValid)
    #expect(bodies.count >= Self.immediately)
  }

  /// The requested bytes; to the largest offset if the request has no end.
  private static func range(of field: String?) -> Range<Int64> {
    let bounds = field?.dropFirst("bytes=".count)
      .split(separator: "-", omittingEmptySubsequences: false)
      .map { Int64($0) }
    guard let bounds, bounds.count == 2, let first = bounds[0] else { return 0..<Int64.max }
    return first..<(bounds[1].map { $0 + 1 } ?? .max)
  }

  private static func bytes(_ counted: ByteRanges, of file: String, match body: Body) throws -> Bool
  {
    guard !counted.isEmpty else { return true }
    let handle = try FileHandle(forReadingFrom: URL(filePath: file))
    defer { try? handle.close() }
    return try counted.ranges.allSatisfy { range in
      try handle.seek(toOffset: UInt64(range.lowerBound))
      let bytes = try handle.read(upToCount: range.count) ?? Data()
      return bytes.count == range.count && body.matches(bytes.span, at: range.lowerBound)
    }
  }
}
