internal import ArgumentParser
internal import DownloadStore

/// `dlstore pause`: pauses downloads.
struct PauseCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Pauses downloads; keeps the bytes already on disk.",
    discussion: """
      An engine running in any process stops their transfers immediately. Completed, cancelled and \
      permanently failed downloads are not changed. Prints one line per download. An unknown \
      download is reported, and the exit code is 1.

      EXAMPLES:
        dlstore pause 8c2b47
        dlstore pause --tag models
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets
  @OptionGroup var messages: QuietOption

  var command: DownloadCommand { .pause }
  var verb: String { "paused" }
}

/// `dlstore resume`: resumes downloads.
struct ResumeCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Resumes downloads from the bytes already on disk.",
    discussion: """
      Clears their failures. With --now they start before all others; if no slot is free, the \
      download that has run longest is stopped and waits until it is resumed. Completed and \
      cancelled downloads are not changed: use 'restart' for them.

      EXAMPLES:
        dlstore resume --all
        dlstore resume --now 8c2b47
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets
  @OptionGroup var messages: QuietOption

  @Flag(help: "Start immediately; if no slot is free, stop the download that has run longest.")
  var now = false

  var command: DownloadCommand { .resume(immediately: now) }
  var verb: String { now ? "starting" : "resumed" }
}

/// `dlstore retry`: resumes failed downloads.
struct RetryCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Retries failed downloads now, from the bytes already on disk.",
    discussion: """
      Without names and options it retries all downloads that failed, and those that wait for their \
      next attempt. Clears their failures. Other downloads are not changed.

      EXAMPLES:
        dlstore retry
        dlstore retry --host example.com
        dlstore retry a.iso
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets
  @OptionGroup var messages: QuietOption

  func validate() throws {}

  var command: DownloadCommand { .resume(immediately: false) }
  /// The states of failed downloads.
  static let states: [DownloadState] = [.failedPermanent, .failedRetryable]

  var states: [DownloadState]? { Self.states }
  var verb: String { "resumed" }
}

/// `dlstore cancel`: deletes partial files, keeps the records.
struct CancelCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancels downloads: deletes partial files, keeps the records.",
    discussion: """
      Completed downloads and their files are not changed. Asks before it changes more than one \
      download; without a terminal that needs --yes. If an engine is running, it cancels the \
      transfers, and the command waits for it for up to two seconds. Otherwise the command deletes \
      the files itself.

      EXAMPLES:
        dlstore cancel https://example.com/old.bin
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets
  @OptionGroup var messages: QuietOption
  @OptionGroup var asking: ConfirmationOptions

  var command: DownloadCommand { .cancel }
  var confirmation: ConfirmationOptions? { asking }
  var verb: String { "cancelled" }
}

/// `dlstore restart`: restarts downloads from the first byte.
struct RestartCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "restart",
    abstract: "Restarts downloads from the first byte, completed ones too.",
    discussion: """
      A finished file stays in place until the new download replaces it. A file that was changed, or \
      that --if-exists keep has adopted, is not replaced: the download gets another name. Asks \
      before it changes more than one download; without a terminal that needs --yes.

      EXAMPLES:
        dlstore restart 8c2b47
        dlstore restart --tag nightly --dry-run
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets
  @OptionGroup var messages: QuietOption
  @OptionGroup var asking: ConfirmationOptions

  var command: DownloadCommand { .restart }
  var confirmation: ConfirmationOptions? { asking }
  var verb: String { "restarted" }
}

/// `dlstore remove`: removes downloads and their partial files.
struct RemoveCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes downloads: deletes the records and their partial files.",
    discussion: """
      Finished files are kept unless --with-file is given and the file is provably the one that was \
      downloaded. Asks before it removes more than one download; without a terminal that needs \
      --yes. If an engine is running, it does the work, and the command waits for it for up to two \
      seconds. Otherwise the command deletes the files itself.

      EXAMPLES:
        dlstore remove old.iso
        dlstore remove --tag temporary --with-file --yes
      """,
    aliases: ["rm"]
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets
  @OptionGroup var messages: QuietOption
  @OptionGroup var asking: ConfirmationOptions

  @Flag(
    name: [.customLong("with-file"), .customLong("with-files")],
    help: "Also delete the finished files."
  )
  var withFile = false

  var command: DownloadCommand { .remove(withFile: withFile) }
  var confirmation: ConfirmationOptions? { asking }
  var verb: String { "removed" }
}
