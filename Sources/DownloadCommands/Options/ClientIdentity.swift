internal import ArgumentParser
internal import CommandLineSupport

/// Options that say to a server who asks: the name of the client, logins and cookies.
///
/// They are also settings.
struct ClientIdentity: ParsableArguments {
  @Option(
    name: [.customShort("A"), .customLong("user-agent")],
    help: ArgumentHelp("The header field User-Agent, stored with the download.", valueName: "text")
  )
  var userAgent: String?

  @Flag(
    inversion: .prefixedNo,
    exclusivity: .chooseLast,
    help: "Take the login and the password of each host from ~/.netrc."
  )
  var netrc = false

  @Option(
    help: ArgumentHelp("As --netrc, from another file.", valueName: "file"),
    completion: .file()
  )
  var netrcFile: String?

  @Option(
    help: ArgumentHelp(
      "Send the matching cookies of a file in the Netscape format.",
      valueName: "file"
    ),
    completion: .file()
  )
  var cookieFile: String?

  /// The files that are read, each with its option.
  var files: [(option: String, path: String)] {
    [netrcFile.map { ("--netrc-file", $0) }, cookieFile.map { ("--cookie-file", $0) }]
      .compactMap { $0 }
  }

  func validate() throws {
    guard !netrc || netrcFile == nil else {
      throw ValidationError("--netrc and --netrc-file cannot be combined.")
    }
    guard userAgent?.isEmpty != true else {
      throw ValidationError("--user-agent requires a text.")
    }
    guard userAgent?.hasPrefix("*") != true else {
      throw ValidationError(
        "-A is the user agent, which cannot begin with '*'; dlstore does not select files by patterns."
      )
    }
    for (option, file) in files { try LocalFile.validate(file, option) }
  }
}
