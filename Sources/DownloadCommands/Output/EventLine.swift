internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// An engine event as one line of text.
struct EventLine {
  /// The policy that says how many attempts a download has.
  var retry = RetryPolicy()
  /// Whether the command of the user tries again if it is repeated, as `get` does.
  var isRepeatable = false
  /// Says which of the files that the user gave have no credentials for a URL; `nil` for none.
  var missingCredentials: @Sendable (String) -> String? = { _ in nil }
  /// Says what the user can do about a failure; `nil` for the commands of `dlstore`.
  var advice: @Sendable (DownloadFailure) -> String? = { _ in nil }
  /// Returns the path of a download's file, or its name.
  var place: @Sendable (DownloadRecord) -> String = { $0.filename }
  /// Says what has become of the finished file of a download; `nil` if that is unknown.
  var finishedFile: @Sendable (DownloadRecord) -> String? = { _ in nil }
  /// Whether another download has the same name but for its number.
  var hasNamesake: @Sendable (DownloadRecord) -> Bool = { _ in false }
  /// Returns the current record of a URL; `nil` if there is none.
  var current: @Sendable (String) -> DownloadRecord? = { _ in nil }

  /// The name of a download, with its URL if another one has the same name but for its number.
  func name(_ record: DownloadRecord) -> String {
    record.filename + namesakeURL(of: record)
  }

  private func namesakeURL(of record: DownloadRecord) -> String {
    hasNamesake(record) ? " (\(Redaction.url(record.url)))" : ""
  }

  /// The line; `nil` for an event that is not printed.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - transfer: The bytes and the time of a completed download in this run; `nil` if unknown.
  /// - Returns: The line, without the program's name.
  func text(for event: DownloadEvent, _ transfer: TransferAmount? = nil) -> String? {
    switch event {
    case .started(let record, let offset):
      offset > 0
        ? "started \(name(record)) \(Self.place(record, offset))"
        : "started \(record.filename) (\(Redaction.url(record.source)))"
    case .copying(let record, let path):
      "copying \(name(record)) from \(path), which has the required digest"
    case .rolledBack(let url, let bytes, let failure):
      bytes > 0
        ? "starting over \(Redaction.url(url)): its \(bytes) bytes are of no use: "
          + FailureSentence.reason(failure, [url])
        : nil
    case .completed(let record):
      completed(record, transfer)
    case .unchanged(let record):
      "unchanged \(place(record))\(namesakeURL(of: record)): the server has no newer version"
    case .retrying(let record, let failure, let wait):
      "retrying \(name(record)): \(FailureSentence.reason(failure, record)); "
        + (firstAdvice(record).map { "\($0); " } ?? "") + next(record, failure, after: wait)
    case .failed(let record, let failure):
      "failed \(name(record)): \(sentence(failure, record))"
        + (missing(for: failure, of: record).map { "; \($0)" } ?? "")
        + (record.state == .completed ? ending(record) : "")
    case .waitingForDiskSpace(let record):
      "the disk is full: \(name(record)) waits for free space"
    case .released(let url):
      released(url)
    case .interceptorFailed(let url, let failure):
      "interceptor \(failure.interceptor) failed for \(Redaction.url(url)): \(failure.message)"
    case .missed(let count):
      "\(count) messages were dropped"
    }
  }

  /// The end of a line about a refresh that has not replaced the finished file.
  private func ending(_ record: DownloadRecord) -> String {
    finishedFile(record).map { "; \($0)" } ?? ""
  }

  private func sentence(_ failure: DownloadFailure, _ record: DownloadRecord) -> String {
    FailureSentence.text(
      failure,
      record,
      isRepeatable: isRepeatable,
      advice: advice(failure)
    )
  }

  /// Says why the engine has stopped a download, which its record shows.
  private func released(_ url: String) -> String {
    guard let record = current(url) else {
      return "stopped \(Redaction.url(url)): another command removed it or changed its URL"
    }
    let name = "stopped \(name(record))"
    // A command that is stored may not be carried out yet.
    switch record.intent {
    case .cancel where record.refreshed == nil: return "\(name): another command cancelled it"
    case .remove: return "\(name): another command removed it"
    case .run, .pause, .cancel: break
    }
    switch record.state {
    case .paused: return "\(name): another command paused it"
    case .cancelled: return "\(name): another command cancelled it"
    case .removed: return "\(name): another command removed it"
    case .waiting where record.isHeld:
      return
        "\(name) for another download ('resume --now'); "
        + "\(SuggestedCommand.text("resume \(record.id)")) continues it"
    case _ where record.intent == .cancel || record.state == .completed:
      return "\(name): another command cancelled its refresh\(ending(record))"
    case .waiting, .running, .failedRetryable, .failedPermanent, .finalizing, .completed:
      return "\(name): another command restarted it or changed it"
    }
  }

  /// Says that a file has no credentials for a server that requires some.
  private func missing(for failure: DownloadFailure, of record: DownloadRecord) -> String? {
    switch (failure.code, failure.detail) {
    case (.refused, nil), (.refused, .login):
      missingCredentials(record.attempts.last?.url ?? record.url)
    default: nil
    }
  }

  private func completed(_ record: DownloadRecord, _ transfer: TransferAmount?) -> String {
    let size = ByteAmount.text(record.received)
    var line = "completed \(place(record))\(namesakeURL(of: record)): \(size)"
    if let transfer {
      // The time is that of the bytes of this run, which are not all of a download that was continued.
      let received = ByteAmount.text(transfer.byteCount)
      line += (received == size ? " " : ", \(received) of it ") + transfer.text
    }
    // All empty files have one digest, which stands for a required size of 0, too.
    if record.received > 0, let digest = record.verifiedDigest, digest == record.expectedDigest {
      line += ", \(digest.prefix { $0 != ":" }) correct"
    }
    return line
  }

  /// Says once what the user can correct while an engine is patient.
  ///
  /// A command that gives up after few attempts says it then.
  private func firstAdvice(_ record: DownloadRecord) -> String? {
    record.failedAttempts == 1 && retry.firstContactAttempts == nil
      ? FailureSentence.advice(beforeRetryOf: record) : nil
  }

  /// Says when the next attempt follows, and where it begins.
  private func next(
    _ record: DownloadRecord,
    _ failure: DownloadFailure,
    after wait: Duration
  ) -> String {
    let place =
      record.received > 0 && record.hasProofAtSource
      ? ", \(Self.place(record, record.received))" : ""
    let date = wait >= .seconds(60) ? record.nextRetryAt : nil
    let time =
      wait < .milliseconds(50)
      ? "now" : "in \(WaitText.text(wait))\(date.map { ", at \(LocalTime.text($0))" } ?? "")"
    // The attempts of a shortage are not counted.
    guard !failure.code.traits.contains(.shortage) else { return "next attempt \(time)\(place)" }
    return "\(attempt(record)) \(time)\(place)"
  }

  /// Returns where a transfer continues; of a file with gaps, how much is on disk.
  private static func place(_ record: DownloadRecord, _ offset: Int64) -> String {
    record.hasGaps ? "with \(record.received) bytes on disk" : "from byte \(offset)"
  }

  /// Returns which attempt follows the last one, such as `attempt 2 of 8`.
  func attempt(_ record: DownloadRecord) -> String {
    "attempt \(record.failedAttempts + 1) of \(retry.applied(to: record).maximumAttempts)"
  }

  /// Whether `--quiet` prints the event: the download failed, or cannot continue by itself.
  static func isError(_ event: DownloadEvent) -> Bool {
    switch event {
    case .failed, .waitingForDiskSpace, .interceptorFailed: true
    case .started, .copying, .rolledBack, .completed, .unchanged, .retrying, .released, .missed:
      false
    }
  }

  /// Returns the line with its first word in the color of the outcome.
  static func colored(_ line: String, for event: DownloadEvent) -> String {
    let color: TerminalColor? =
      switch event {
      case .completed, .unchanged: .green
      case .failed, .waitingForDiskSpace, .interceptorFailed: .red
      case .retrying: .yellow
      case .started, .copying, .rolledBack, .released, .missed: nil
      }
    guard let color else { return line }
    let word = line.prefix { $0 != " " }
    return color.applied(to: String(word)) + line.dropFirst(word.count)
  }
}

extension EventLine {
  /// Creates the lines about downloads of a store, which is read for some events.
  init(
    of store: RecordStore,
    retry: RetryPolicy = RetryPolicy(),
    isRepeatable: Bool = false,
    missingCredentials: @escaping @Sendable (String) -> String? = { _ in nil },
    advice: @escaping @Sendable (DownloadFailure) -> String? = { _ in nil }
  ) {
    self.advice = advice
    self.missingCredentials = missingCredentials
    self.retry = retry
    self.isRepeatable = isRepeatable
    let entry = { @Sendable (record: DownloadRecord) in
      (try? store.roots()).map { DownloadEntry(record, $0) }
    }
    place = { record in
      // A temporary file is gone when the user reads the line.
      guard record.root != RootName.temporary else { return record.filename }
      return entry(record)?.localPath ?? record.filename
    }
    finishedFile = { record in entry(record)?.finishedFileText }
    hasNamesake = { record in (try? store.hasNamesake(of: record)) ?? false }
    current = { url in
      try? store.objects.read { tx in try tx.find(DownloadRecord.self, key: url) }
    }
  }
}

/// Waits in text.
enum WaitText {
  /// Returns `0.4 s`, `3 s`, or from a minute on the time as a clock shows it.
  static func text(_ wait: Duration) -> String {
    let seconds = max(0, wait / .seconds(1))
    if seconds >= 60 { return TimeSpan.text(seconds) }
    guard seconds < 1 else { return "\(Int(seconds.rounded(.up))) s" }
    let tenths = Int((seconds * 10).rounded())
    return tenths == 0 || tenths == 10 ? "\(tenths / 10) s" : "0.\(tenths) s"
  }
}

/// Times of the day in text.
enum LocalTime {
  /// Returns the local time to the second, such as `22:04:09`, with the date if it is another day.
  static func text(_ date: Date, now: Date = Date(), zone: TimeZone = .current) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let style = Date.ISO8601FormatStyle(timeZone: zone)
    let time = date.formatted(style.time(includingFractionalSeconds: false))
    guard !calendar.isDate(date, inSameDayAs: now) else { return time }
    return "\(date.formatted(style.year().month().day())) \(time)"
  }
}

/// The bytes that were received in a run, and how long that took.
struct TransferAmount: Sendable, Hashable {
  var byteCount: Int64
  var duration: Duration

  /// `in 35 s (61 MiB/s)`; without a speed if the time is too short to tell it.
  var text: String {
    let seconds = duration / .seconds(1)
    let speed =
      seconds >= 0.1 && byteCount > 0
      ? " (\(ByteAmount.text(Speed.byteCount(Double(byteCount) / seconds)))/s)" : ""
    let time = seconds < 0.1 ? "less than 0.1 s" : WaitText.text(duration)
    return "in \(time)\(speed)"
  }
}
