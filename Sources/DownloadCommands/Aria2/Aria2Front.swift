internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// `dlstore aria2c`, and this program under the name `aria2c`: downloads as programs that call aria2c
/// expect it, with its options, names of files and exit codes (decision 0112).
///
/// Each call has a store of its own, which is found again by the files that the call names: the same
/// call continues after an interruption, calls do not see each other, and nothing remains when the files
/// are complete. The control files of aria2 serve the same purpose.
struct Aria2Front {
  /// The name under which the program is called.
  static let name = "aria2c"
  /// The version whose options and exit codes are those of this front.
  private static let version = "1.37.0"

  /// The arguments of aria2c.
  let arguments: [String]

  /// Recognizes a call; `nil` for any other.
  ///
  /// - Parameters:
  ///   - program: The name of the program, `argv[0]`.
  ///   - arguments: The other arguments.
  init?(program: String?, _ arguments: [String]) {
    if program?.split(separator: "/").last == "aria2c" {
      self.arguments = arguments
    } else if arguments.first == Self.name {
      self.arguments = Array(arguments.dropFirst())
    } else {
      return nil
    }
  }

  /// Runs the call; returns its exit code.
  func run() async -> Int32 {
    do {
      let line = try Aria2CommandLine(arguments)
      if line.request != nil { try Output.current.requireOpen() }
      switch line.request {
      case .version:
        try Output.current.line("aria2 version \(Self.version)")
        try Output.current.line("provided by dlstore \(Version.number)")
        return Aria2ExitCode.done.rawValue
      case .help:
        try Output.current.line(DLStoreCommand.helpMessage(for: Aria2Command.self))
        return Aria2ExitCode.done.rawValue
      case nil: break
      }
      let environment = ProcessInfo.processInfo.environment
      var isListComplete = true
      let plan = try Aria2Plan(
        line,
        list: { path in
          let file = try Self.list(path)
          isListComplete = !file.problems.contains(where: \.isFatal)
          return file.entries
        },
        home: environment["HOME"] ?? NSHomeDirectory()
      )
      guard !plan.entries.isEmpty else {
        guard !isListComplete else { return Aria2ExitCode.done.rawValue }
        let list = plan.list ?? ""
        throw Aria2CommandLine.Problem(message: "\(list) has no line that can be used")
      }
      if Worker.current == nil, line.value(of: "log")?.isEmpty == false, !plan.isQuiet {
        Output.current.say("--log is not supported: messages are on standard error")
      }
      if Worker.current == nil, !plan.isQuiet, let path = plan.cookieFile, !Self.exists(path) {
        Output.current.say("--load-cookies: \(path) does not exist, so no cookies are sent")
      }
      let limits = try EngineLimits.parse(plan.limits)
      if plan.entries.contains(where: { $0.isDocument && $0.url == "-" }) {
        if Self.hasSupervisor, Worker.current == nil { try SpooledInput.spool() }
        SpooledInput.rewind()
      }
      #if os(Linux)
        // Here, because the supervisor needs the main thread.
        if Worker.current == nil {
          let supervisor = Supervisor(
            failsWhenSomethingFailed: false,
            environment: limits.client.environment.merging(plan.environment) { $1 }
          )
          return Self.code(ofSupervisor: supervisor.run())
        }
      #else
        guard plan.environment.isEmpty else {
          throw Aria2CommandLine.Problem(message: "--no-proxy is not supported: set $no_proxy")
        }
      #endif
      do {
        // Here, and not in the supervisor, which has no threads of a client.
        try limits.client.checkFiles()
      } catch let failure as CommandFailure {
        throw Aria2CommandLine.Problem(message: failure.message ?? "")
      }
      let code = try await download(plan)
      return (code == .done && !isListComplete ? .badOption : code).rawValue
    } catch let problem as Aria2CommandLine.Problem {
      Output.current.say(problem.message)
      return Aria2ExitCode.badOption.rawValue
    } catch let failure as CommandFailure {
      if let message = failure.message { Output.current.say(message) }
      return Aria2ExitCode(failure).rawValue
    } catch is ClosedPipe {
      return Aria2ExitCode.done.rawValue
    } catch let error where ExitStatus(error) != .failed {
      Output.current.say(Aria2Advice.message(of: error))
      return Aria2ExitCode(error).rawValue
    } catch {
      let message = EngineLimits.message(for: error)
      Output.current.say(message.isEmpty ? "\(error)" : message)
      return EngineLimits.exitCode(for: error) == .validationFailure
        ? Aria2ExitCode.badOption.rawValue : Aria2ExitCode(error).rawValue
    }
  }

  /// The code for the status of a supervisor, which is that of its worker or one of its own.
  private static func code(ofSupervisor status: Int32) -> Int32 {
    switch ExitStatus(rawValue: status) {
    case .hungUp, .interrupted, .terminated: Aria2ExitCode.unfinished.rawValue
    case nil, .done, .failed: status
    default: Aria2ExitCode.unknown.rawValue
    }
  }

  /// Reads a list of downloads; reports what cannot be used.
  private static func list(_ path: String) throws -> InputFile {
    let isSupervised = hasSupervisor && Worker.current != nil
    let isPiped = path == "-" || hasSupervisor && isPipe(path, orMissing: isSupervised)
    // The supervisor reads it for the problems, and each worker from its first byte.
    if isPiped {
      if hasSupervisor, !isSupervised { try SpooledInput.spool(path) }
      SpooledInput.rewind()
    }
    let file = try InputFile(isPiped ? "-" : path, keepsOptions: true)
    guard !isSupervised else { return file }
    for problem in file.problems where problem.option != InputFileParser.renamingOption {
      let message = problem.isBadValue ? problem.reason : problem.message
      Output.current.say("\(path):\(problem.line): \(message)")
    }
    guard !file.problems.contains(where: \.isBadValue) else {
      throw Aria2CommandLine.Problem(message: "\(path) has an option with a wrong value")
    }
    return file
  }

  /// Whether a path is that of a pipe, whose bytes can be read only once.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - orMissing: Whether that of a file that is missing counts, such as `/dev/fd/63`, which only the
  ///     supervisor has open.
  /// - Returns: Whether it is.
  private static func isPipe(_ path: String, orMissing: Bool) -> Bool {
    var status = stat()
    guard statFollowingLinks(path, &status) == 0 else { return orMissing }
    return [S_IFIFO, S_IFCHR, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  private static var hasSupervisor: Bool {
    #if os(Linux)
      true
    #else
      false
    #endif
  }

  // MARK: The downloads

  private func download(_ plan: Aria2Plan) async throws -> Aria2ExitCode {
    for folder in Set(plan.entries.compactMap(\.absoluteFolder)) {
      try Folder.requireNoFile(at: folder)
    }
    let place = try Aria2CallPlace(of: plan, ProcessInfo.processInfo.environment)
    guard let lock = try place.lock() else {
      throw CommandFailure(.engineRuns, "another process downloads the same files")
    }
    defer { withExtendedLifetime(lock) {} }
    let isRestarted = Worker.current?.isRestarted == true
    if plan.startsOver, !isRestarted { place.delete() }
    let isNew = !FileManager.default.fileExists(atPath: place.path)
    do {
      return try await download(plan, in: place, isRestarted: isRestarted)
    } catch {
      if isNew, !place.hasBytes { place.delete() }
      throw error
    }
  }

  private func download(
    _ plan: Aria2Plan,
    in place: Aria2CallPlace,
    isRestarted: Bool
  ) async throws -> Aria2ExitCode {
    let store = try RecordStore(at: place.path, checksPages: Worker.followsCrash)
    var isListComplete = true
    var downloads = try Aria2Downloads(store: store, acceptsHiddenFolders: true)
    downloads.continuesFiles = plan.isContinued
    let completion = try Self.details(of: plan).read(at: Date())
    for entry in plan.entries {
      do {
        try downloads.append(entry, of: plan.list ?? "") { request in
          if plan.entries.count == 1, !entry.isDocument { request.key = place.key }
          try Self.checkName(of: &request, isGiven: !entry.isDocument)
          if !entry.renames, request.collision == .number { request.collision = .fail }
          try completion.complete(&request)
        }
      } catch let failure as CommandFailure where entry.isDocument {
        if let message = failure.message {
          Output.current.say(String(message.trimmingPrefix("skipped: ")))
        }
        place.delete()
        return failure.status == .damaged ? .malformedMetalink : .badOption
      } catch let error as RecordStoreError where entry.line > 0 {
        isListComplete = false
        Output.current.say("\(plan.list ?? ""):\(entry.line): \(error.message)")
      }
    }
    guard downloads.count > 0 else {
      place.delete()
      return .badOption
    }
    let destinations = try downloads.destinations(isQuiet: plan.isQuiet)
    var limits = plan.limits
    let urls: [String]
    if isRestarted {
      urls = try store.records(Query(.all)).map(\.url)
      limits += plan.isContinued ? ["--continue-unvalidated"] : []
    } else {
      try Self.replaceURL(of: plan, place, in: store)
      let outcome: Aria2Downloads.Outcome
      do {
        outcome = try downloads.add(keepingPartials: false) { Output.current.say($0) }
      } catch let error as RecordStoreError where error.code == .nameTaken {
        Output.current.say(error.message)
        place.delete()
        return .fileExists
      }
      if !plan.isQuiet {
        for notice in outcome.notices + outcome.added.compactMap(\.mirrorMessage) {
          Output.current.say(notice)
        }
      }
      guard !outcome.hasFailed else {
        // The names that the downloads have reserved are not those of the next call.
        if outcome.added.allSatisfy({ $0.record.received == 0 }) { place.delete() }
        return .fileIO
      }
      urls = outcome.added.map(\.record.url)
      if plan.isContinued || outcome.takenByteCount > 0 || outcome.unvalidatedCount > 0 {
        limits.append("--continue-unvalidated")
      }
    }
    let awaited = AwaitedDownloads(
      store: store,
      limits: try EngineLimits.parse(limits),
      display: try DisplayOptions.parse(plan.display),
      waits: false,
      advice: Aria2Advice.text
    )
    let complete = try store.records(withURLs: urls).filter { $0.state == .completed }
    let (end, _) = try await awaited.run(
      Set(urls.map(StoredText.init)),
      ended: Set(complete.map { StoredText($0.url) })
    )
    let records = try store.records(withURLs: urls)
    let code = Aria2ExitCode(records, stopped: end.signal != nil)
    let placements = try Self.place(records, at: destinations, in: store)
    let open = try Self.unfinished(records, of: destinations, in: store)
    // Without bytes there is nothing to continue.
    if open.isEmpty || code != .unfinished && open.allSatisfy({ $0.received == 0 }) {
      place.delete()
    }
    guard code == .done else { return code }
    if placements.contains(.failed) { return .fileIO }
    return placements.contains(.refused) ? .fileExists : isListComplete ? .done : .badOption
  }

  /// Refuses a name that no file could have in the end; that of a document is made safe, because the caller
  /// has not chosen it.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidName`.
  private static func checkName(of request: inout DownloadRequest, isGiven: Bool) throws {
    guard let name = request.filename else { return }
    guard isGiven else {
      request.filename = SafeFilename.sanitized(name)
      return
    }
    let shown = TerminalText.safe(name)
    guard name.utf8.count <= SafeFilename.longest else {
      throw RecordStoreError(
        .invalidName,
        "the file name '\(shown)' has more than \(SafeFilename.longest) bytes"
      )
    }
    guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw RecordStoreError(.invalidName, "the file name '\(shown)' has control characters")
    }
  }

  /// Gives the finished files the names that the caller expects.
  ///
  /// The store forgets a file that it would not find under its new name.
  private static func place(
    _ records: [DownloadRecord],
    at destinations: [StoredText: Aria2Downloads.Destination],
    in store: RecordStore
  ) throws -> [Aria2Downloads.Destination.Placement] {
    let roots = try store.roots()
    var placements: [Aria2Downloads.Destination.Placement] = []
    var moved: [DownloadRecord] = []
    let counts = Dictionary(
      records.compactMap { record in
        destinations[StoredText(record.url)].map { (StoredText($0.path), 1) }
      },
      uniquingKeysWith: +
    )
    for record in records where record.state == .completed {
      guard let path = DownloadEntry(record, roots).localPath,
        let destination = destinations[StoredText(record.url)]
      else { continue }
      let isShared = counts[StoredText(destination.path), default: 1] > 1
      placements.append(destination.place(path, isShared: isShared))
      if FileIdentity(ofFileAt: path) == nil { moved.append(record) }
    }
    try store.purge(store.purgePlan(moved, withFiles: false))
    return placements
  }

  /// Removes unfinished downloads that have only the bytes of a file that `-c` continues; returns the
  /// others.
  private static func unfinished(
    _ records: [DownloadRecord],
    of destinations: [StoredText: Aria2Downloads.Destination],
    in store: RecordStore
  ) throws -> [DownloadRecord] {
    let open = records.filter { $0.state != .completed }
    let copies = open.filter { record in
      guard record.received > 0, let destination = destinations[StoredText(record.url)] else {
        return false
      }
      return destination.isContinued
        && FileIdentity(ofFileAt: destination.path)?.size == record.received
    }
    try store.purge(store.purgePlan(copies, withFiles: false))
    let removed = Set(copies.map(\.id))
    return open.filter { !removed.contains($0.id) }
  }

  /// Gives the only download of the call its current URL: the earlier one may have expired.
  private static func replaceURL(
    of plan: Aria2Plan,
    _ place: Aria2CallPlace,
    in store: RecordStore
  ) throws {
    guard plan.entries.count == 1, let entry = plan.entries.first, !entry.isDocument,
      let key = place.key, let record = try? store.record(matching: key),
      record.state != .completed, StoredText(record.url) != StoredText(entry.url)
    else { return }
    _ = try store.replaceURLNow(matching: key, with: entry.url)
  }

  private static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  private static func details(of plan: Aria2Plan) throws -> RequestDetails {
    var words: [String] = []
    // Without the file, aria2 sends no cookies.
    if let file = plan.cookieFile, exists(file) { words += ["--cookie-file", file] }
    if let file = plan.netrcFile { words += ["--netrc-file", file] }
    return RequestDetails(identity: try ClientIdentity.parse(words))
  }
}
