import ArgumentParser
import CommandTestSupport
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What is said about options that a command does not have, all at once.
struct UnknownOptionsTests {
  private static let url = "http://h/x"

  /// The first line of the message, without `Error: `.
  private func line(_ words: String) -> String {
    let arguments = words.split(separator: " ").map(String.init)
    let scan = DLStoreCommand.scan(arguments)
    return UnknownOptionMessage(Self.first(arguments, scan), arguments, scan).line
  }

  /// The option that the parser would name.
  private static func first(_ arguments: [String], _ scan: CommandLineScan) -> String {
    let own = scan.arguments.flatMap(\.spellings)
    return arguments.first { $0.hasPrefix("-") && !own.contains($0) } ?? ""
  }

  @Test(arguments: [
    // curl
    ("-fsSL -O URL", "--quiet URL"), ("-f -s -S -L -O -C - URL", "--quiet URL"),
    ("-LO URL", "URL"), ("-Lo x URL", "-o x URL"), ("--location --output x URL", "--output x URL"),
    ("-L --retry 3 --retry-delay 5 URL", "--max-attempts 3 --retry-wait 5 URL"),
    ("--silent --show-error --max-redirs 5 URL", "--quiet URL"),
    ("-x http://p:1 URL", "--proxy http://p:1 URL"), ("-OJL URL", "URL"),
    // wget
    ("-nv -c URL", "--quiet URL"), ("-q -O x URL", "-q -o x URL"),
    ("-qO x.iso URL", "-q -o x.iso URL"),
    ("-nc URL", "--if-exists keep URL"),
    ("-P d --tries=3 URL", "--output-folder d --max-attempts 3 URL"),
    ("-U agent -T 5 URL", nil), ("-r -np -nd URL", nil),
    // aria2c
    ("-x8 -s16 URL", "--connections 16 URL"),
    ("-x 4 -k 1M URL", "--connections 4 --min-split 1M URL"),
    ("--dir d --split=8 -c URL", "--dir d --connections 8 URL"), ("--bt-max-peers=3 URL", nil),
  ])
  func `one message names all unknown options, and prints the command that works`(
    _ words: String,
    _ works: String?
  ) throws {
    let line = line("get " + words.replacing("URL", with: Self.url))
    let command = works.map { "This works: 'dlstore get \($0.replacing("URL", with: Self.url))'" }
    if let command {
      #expect(line.hasSuffix(command), "\(line)")
    } else {
      #expect(!line.contains("This works"), "\(line)")
    }
    #expect(line.hasPrefix("Unknown option"), "\(line)")
    #expect(!line.contains("Did you mean") && !line.contains("no such option"), "\(line)")
  }

  @Test func `a command with a secret is not printed`() {
    let line = line("get -L -H Authorization:secret-token-0123456789 \(Self.url)")
    #expect(line.contains("default") && !line.contains("secret"), "\(line)")
  }

  @Test(arguments: [
    ("get --versoin", "Did you mean '--version'?"), ("list --hlep", "Did you mean '--help'?"),
    (
      "run -i f",
      "it is an option of 'dlstore get' and 'dlstore add'; 'run' runs what 'add' has stored."
    ),
    ("purge --al", "Did you mean '--all'?"), ("get --dryrun \(url)", "Did you mean '--dry-run'?"),
    ("-q \(url)", "a command is missing; this works: 'dlstore get -q \(url)'."),
    ("-fsSLO \(url)", "a command is missing; this works: 'dlstore get --quiet \(url)'."),
    ("list -x 3", "use --connections N; it is an option of 'dlstore get', 'dlstore run'"),
    ("get --tagg", "Did you mean '--tag'?"),
    ("list --sort-by filename", "use --sort FIELD. This works: 'dlstore list --sort filename'"),
    ("list -o json", "use --format FORMAT. This works: 'dlstore list --format json'"),
    ("list -n 5", "This works: 'dlstore list --limit 5'"),
    ("list -la", "This works: 'dlstore list'"),
    ("limit -1", "no value here may be negative"),
    ("get --retry-failed \(url)", "'--retry-failed': use 'dlstore retry', which retries failed"),
    ("resume --retry-failed", "'--retry-failed': use 'dlstore retry', which retries failed"),
    ("list --failed", "This works: 'dlstore list --state failed'"),
  ])
  func `a mistyped option, and one of another command, have a hint`(_ words: String, _ hint: String)
  {
    #expect(line(words).contains(hint), "\(line(words))")
  }

  @Test func `each command that has an option is named`() async {
    let result = await dlstore("run", "--checksum-file", "x")
    for command in ["get", "add", "refresh"] {
      #expect(result.messages.contains("'dlstore \(command)'"), "\(result.messages)")
    }
  }

  @Test(arguments: [
    ("curl", OtherPrograms.curl), ("wget", OtherPrograms.wget), ("aria2c", OtherPrograms.aria2c),
  ])
  func `each option of another program is an option of get, or has a hint`(
    _ program: String,
    _ names: String
  ) {
    let own = Set(
      CommandInfo(of: DLStoreCommand.self).visibleCommands.flatMap { $0.arguments ?? [] }
        .flatMap(\.spellings)
    )
    let missing = names.split(separator: " ").map(String.init).filter { name in
      !own.contains(name) && ForeignOption.named(name) == nil
    }
    #expect(missing.isEmpty, "\(program): \(missing.joined(separator: " "))")
  }

  @Test func `each hint for a command names commands that exist`() {
    let own = Set(
      DLStoreCommand.configuration.subcommands.flatMap {
        [$0.configuration.commandName ?? ""] + $0.configuration.aliases
      }
    )
    for (word, hint) in ForeignWords.commands {
      #expect(!own.contains(word), "\(word) is a command")
      for match in hint.matches(of: /'([a-z-]+)( [^']*)?'/)
      where match.output.1 != "dlstore" && !match.output.1.hasPrefix("-") {
        #expect(own.contains(String(match.output.1)), "\(word): \(hint)")
      }
    }
  }
}
