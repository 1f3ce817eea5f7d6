internal import ArgumentParser
internal import CommandLineSupport

/// `dlstore aria2c`: accepts the command line of aria2c.
///
/// ``Aria2Front`` runs it, before the parser of the other commands sees the arguments. This type is for
/// the help.
struct Aria2Command: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: Aria2Front.name,
    abstract: "Downloads with the options of aria2c, for programs that call it.",
    discussion: """
      A symbolic link called aria2c to this program replaces it, for example for yt-dlp. Downloads URLs; \
      several are mirrors of one file, or with -Z files of their own. The files, the exit codes and what \
      an interrupted call continues are those of aria2c; its partial files and control files are taken \
      over. Each call has a store of its own, which is deleted when the files are complete. Options \
      that do not change what is downloaded are ignored; others that cannot be honoured, such as those of \
      BitTorrent and RPC, end the command with 28.

      EXAMPLES:
        dlstore aria2c -x 8 -s 8 -o a.iso https://example.com/a.iso
        dlstore aria2c --dir /srv --input-file urls.txt
      """
  )

  @Argument(
    parsing: .captureForPassthrough,
    help: ArgumentHelp("The options and URLs of aria2c.", valueName: "argument")
  )
  var arguments: [String] = []

  func run() throws {
    throw ValidationError("'aria2c' must be the first word after dlstore; it has no --store.")
  }
}
