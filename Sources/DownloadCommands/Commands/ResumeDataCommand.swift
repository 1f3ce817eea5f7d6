internal import ArgumentParser
internal import DownloadStore
internal import ResumeData

/// `dlstore resume-data`: what is in resume data of Apple's URLSession, and what a system needs of it.
struct ResumeDataCommand: AsyncParsableCommand {
  /// The systems that resume data can be repaired for.
  enum Repair: String, CaseIterable, ExpressibleByArgument {
    case ios10
    case ios11
    case v1
  }

  static let configuration = CommandConfiguration(
    commandName: "resume-data",
    abstract: "Decodes resume data of Apple's URLSession.",
    discussion: """
      Tells the form, the URL, the bytes that have arrived, the validator, the partial file, the \
      requests and what is wrong. The exit code is 65 when the file is no resume data. User info, \
      signatures, tokens, Authorization and Cookie are shown as \(Redaction.mark).

      --repair writes what a system needs: 'ios10' for iOS 10.0 and 10.1, whose reader cannot read \
      the requests that they write; 'ios11' for iOS 11.0 to 11.2, which a byte range misleads; 'v1' \
      for version 1, whose partial file has moved to the folder that --directory names. Other \
      systems need the data as it is, so keep the original: the same bytes are right for them. The \
      output holds whatever secrets the input does.
      """
  )

  @Argument(
    help: ArgumentHelp("A file with resume data; '-' is standard input.", valueName: "file|-"),
    completion: .file()
  )
  var file: String

  @Flag(help: "One JSON object.")
  var json = false

  @Flag(help: "Show secrets as they are.")
  var revealSecrets = false

  @Option(help: ArgumentHelp("Repair it for a system.", valueName: "ios10|ios11|v1"))
  var repair: Repair?

  @Option(
    help: ArgumentHelp("With --repair v1, where the partial file is now.", valueName: "folder"),
    completion: .directory
  )
  var directory: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "With --repair, a new file for the result; '-' is standard output.",
      valueName: "file|-"
    ),
    completion: .file()
  )
  var output: String?

  func validate() throws {
    guard (repair == nil) == (output == nil) else {
      throw ValidationError("--repair and -o go together.")
    }
    guard (repair == .v1) == (directory != nil) else {
      throw ValidationError("--repair v1 and --directory go together.")
    }
    guard repair == nil || !json else {
      throw ValidationError("--json shows resume data, --repair writes it.")
    }
  }

  func run() async throws {
    guard output != "-" || !Terminal.output.isTerminal else {
      throw CommandFailure(
        .usage,
        "resume data is not text: redirect standard output, or name a file with -o"
      )
    }
    let limit = PropertyListLimits.standard.byteCount
    // One byte more shows that there is too much.
    let data = try ResumeData(ResumeDataFile.read(file, upTo: limit + 1))
    if let repair, let output {
      try write(data, repairedFor: repair, to: output)
    } else {
      let report = ResumeDataReport(of: data, revealsSecrets: revealSecrets)
      try Output.current.line(json ? report.json : report.text)
    }
  }

  private func write(_ data: ResumeData, repairedFor repair: Repair, to output: String) throws {
    let consumer: ResumeData.Consumer =
      switch repair {
      case .ios10: .iOS10
      case .ios11: .iOS11
      case .v1: .version1(directory: Folder.absolutePath(directory ?? "."))
      }
    let repaired = try data.prepared(for: consumer)
    if output == "-" {
      try Output.current.write(repaired.bytes)
    } else {
      try ResumeDataFile.write(repaired.bytes, to: output)
    }
    let news = repaired.bytes == data.bytes ? "needed no repair" : "repaired"
    Output.current.say("\(news) for \(repair.rawValue)")
  }
}
