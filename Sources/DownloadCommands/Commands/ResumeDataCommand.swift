internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import ResumeData

/// `dlstore resume-data`: decodes and repairs the resume data of Apple's URLSession.
struct ResumeDataCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume-data",
    abstract: "Decodes resume data of Apple's URLSession.",
    discussion: """
      Shows the format, the URL, the bytes received, the validator, the partial file, the requests \
      and any defects. The exit code is 65 if the file is not resume data. User info, signatures, \
      tokens and header fields such as Authorization and Cookie are shown as \(Redaction.mark).

      --repair writes a copy for one system: 'ios10' for iOS 10.0 and 10.1, which cannot read the \
      requests that they write; 'ios11' for iOS 11.0 to 11.2, which misread the byte range; 'v1' \
      for version 1 data whose partial file has moved to the folder given by --directory. Other \
      systems need the original, so keep it. The copy contains the same secrets as the input.

      EXAMPLES:
        dlstore resume-data CFNetworkDownload.plist --json
        dlstore resume-data old.plist --repair ios10 -o new.plist
      """
  )

  @Argument(
    help: ArgumentHelp("A file of resume data; '-' is standard input.", valueName: "file|-"),
    completion: .file()
  )
  var file: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Show secrets unredacted.")
  var revealSecrets = false

  @Option(help: ArgumentHelp("Write a copy repaired for a system.", valueName: "ios10|ios11|v1"))
  var repair: ResumeDataRepair?

  @Option(
    help: ArgumentHelp("With --repair v1, the folder of the partial file.", valueName: "folder"),
    completion: .directory
  )
  var directory: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "With --repair, the new file to write; '-' is standard output.",
      valueName: "file|-"
    ),
    completion: .file()
  )
  var output: String?

  func validate() throws {
    guard (repair == nil) == (output == nil) else {
      throw ValidationError("--repair and -o must be given together.")
    }
    guard (repair == .v1) == (directory != nil) else {
      throw ValidationError("--repair v1 and --directory must be given together.")
    }
    guard repair == nil || !json else {
      throw ValidationError("--json and --repair cannot be combined.")
    }
  }

  func run() async throws {
    guard output != "-" || !Terminal.output.isTerminal else {
      throw CommandFailure(
        .usage,
        "resume data is binary: redirect standard output, or give a file with -o"
      )
    }
    let limit = PropertyListLimits.standard.byteCount
    // One byte more than the limit shows that the file is too large.
    let bytes = try ResumeDataFile.read(file, upTo: limit + 1)
    let data: URLSessionResumeData
    do throws(ResumeDataError) {
      data = try URLSessionResumeData(bytes)
    } catch {
      let name = file == "-" ? "standard input" : TerminalText.safe(file)
      throw CommandFailure(ExitStatus(error.code), "\(name) is not usable resume data: \(error)")
    }
    if let repair, let output {
      try write(data, repairedFor: repair, to: output)
    } else {
      let report = ResumeDataReport(of: data, revealsSecrets: revealSecrets)
      try Output.current.line(json ? report.json : report.text)
    }
  }

  private func write(
    _ data: URLSessionResumeData,
    repairedFor repair: ResumeDataRepair,
    to output: String
  ) throws {
    let consumer: URLSessionResumeData.Consumer =
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
    let verb = repaired.bytes == data.bytes ? "needed no repair" : "repaired"
    Output.current.say("\(verb) for \(repair.rawValue)")
  }
}

/// `--repair` takes a system version.
extension ResumeDataRepair: ExpressibleByArgument {}
