internal import ArgumentParser
internal import DownloadStore

/// `dlstore resume`: resumes downloads.
struct ResumeCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Resumes downloads from the bytes already on disk.",
    discussion: """
      Clears their failures. With --now they start before all others; if no slot is free, the \
      download that has run longest is stopped and waits until it is resumed. Completed and \
      cancelled downloads are not changed: use 'restart' for them.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  @Flag(help: "Start immediately; if no slot is free, stop the download that has run longest.")
  var now = false

  var command: DownloadCommand { .resume(immediately: now) }
  var verb: String { now ? "starting" : "resumed" }
}
