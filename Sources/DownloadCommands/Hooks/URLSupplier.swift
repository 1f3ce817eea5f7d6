internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// Asks a command of the user for a new URL when the server refuses that of a download.
///
/// The record keeps its URL, which is its key; the new URL is used by this process only, until the
/// server refuses it, too. Header fields of the record that may contain a secret are not sent to
/// another origin, as for any interceptor.
actor URLSupplier: RequestInterceptor {
  /// The time after which the command is ended.
  static let timeLimit = Duration.seconds(30)
  /// The number of consecutive refusals, without progress, after which a request is still repeated.
  static let maximumRefusals: Int32 = 3

  /// Where the URL of a request comes from.
  enum Source: Hashable {
    /// The record, or a mirror.
    case record
    /// An earlier answer of the command.
    case earlier
    /// A new answer of the command.
    case command
  }

  private let command: UserCommand
  private let store: RecordStore
  private let timeLimit: Duration
  /// The last answer for each record id, and the URL of the record that it replaces.
  private var answers: [String: (recordURL: String, url: String)] = [:]
  /// The running commands, by their order.
  private var running: [Int: Task<UserCommand.End, any Error>] = [:]
  private var count = 0

  init(command: UserCommand, store: RecordStore, timeLimit: Duration = URLSupplier.timeLimit) {
    self.command = command
    self.store = store
    self.timeLimit = timeLimit
  }

  /// Decides where the URL of a request comes from.
  ///
  /// - Parameters:
  ///   - url: The URL that the engine chose.
  ///   - record: The record, with its failed attempts.
  ///   - hasAnswer: Whether the command has answered for the record's URL before.
  /// - Returns: The source of the URL.
  static func source(
    for url: String,
    of record: DownloadRecord,
    hasAnswer: Bool
  ) -> Source {
    // A mirror has not been refused, or is not the one to replace.
    guard url.utf8.elementsEqual(record.url.utf8) else { return .record }
    let lastFailure = record.failedAttempts > 0 ? record.attempts.last : nil
    if let lastFailure, lastFailure.failure.code.isRefusal,
      lastFailure.url.utf8.elementsEqual(record.url.utf8)
    {
      return .command
    }
    return hasAnswer ? .earlier : .record
  }

  func intercept(_ request: TaskRequest, for record: DownloadRecord) async throws -> TaskRequest {
    let answer = answers[record.id].flatMap {
      $0.recordURL.utf8.elementsEqual(record.url.utf8) ? $0.url : nil
    }
    var request = request
    switch Self.source(for: request.url, of: record, hasAnswer: answer != nil) {
    case .record: break
    case .earlier: request.url = answer ?? request.url
    case .command:
      let url = try await ask(for: record)
      answers[record.id] = (record.url, url)
      request.url = url
    }
    return request
  }

  /// Runs the command.
  ///
  /// - Returns: The first line that it prints.
  /// - Throws: `DownloadFailure` with `needsURL`.
  private func ask(for record: DownloadRecord) async throws -> String {
    let input = RecordJSON.value(of: DownloadEntry(record, try store.roots())).text + "\n"
    let variables = ["DLSTORE_ID": record.id, "DLSTORE_STORE": store.path]
    let asking = Task { [command] in
      try await command.run(input: input, variables: variables, capturesOutput: true)
    }
    count += 1
    let number = count
    running[number] = asking
    defer { running[number] = nil }
    let start = ContinuousClock.now
    let timer = Task { [timeLimit] in
      // A cancelled sleep ends nothing.
      if (try? await Task.sleep(for: timeLimit)) != nil { asking.cancel() }
    }
    defer { timer.cancel() }
    let end: UserCommand.End
    do {
      end = try await withTaskCancellationHandler {
        try await asking.value
      } onCancel: {
        asking.cancel()
      }
    } catch {
      throw Self.failure((error as? CommandFailure)?.message ?? "\(error)")
    }
    guard start.duration(to: .now) < timeLimit else {
      throw Self.failure("the URL command did not end within \(timeLimit)")
    }
    guard end.isSuccess else { throw Self.failure("the URL command \(end.description)") }
    let line = String(decoding: end.output, as: UTF8.self).prefix { !$0.isNewline }
    let url = line.trimmingCharacters(in: .whitespaces)
    do {
      try RecordIdentity.validate(url)
    } catch {
      throw Self.failure("the URL command did not print an http or https URL in its first line")
    }
    return url
  }

  /// Ends the running commands, and waits until they have ended.
  ///
  /// The engine does not wait for the interceptor of a request that it has given up, and a command that
  /// outlives the program would run beside its repetition.
  func end() async {
    for task in running.values { task.cancel() }
    for task in running.values { _ = await task.result }
  }

  private static func failure(_ message: String) -> DownloadFailure {
    DownloadFailure(.needsURL, message)
  }
}
