internal import ArgumentParser
internal import DownloadStore

/// `dlstore resume`: has downloads go on.
struct ResumeCommand: WishCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Has downloads go on with what is downloaded.",
    discussion: """
      Their failures are forgotten. With --now they start before all others, and where no slot is \
      free in the place of the one that has run longest, which then waits until it is resumed. What \
      is complete or cancelled is left as it is: 'restart' begins it anew.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  @Flag(help: "Start at once, in the place of the one that has run longest if need be.")
  var now = false

  var wish: Wish { .resume(atOnce: now) }
  var verb: String { now ? "starting" : "resumed" }
}
