internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// What `dlstore` prints without a command: what to type first, the commands by use, and the store.
struct FirstScreen {
  /// The commands by use, as in the help of the tool.
  static let groups = DLStoreCommand.configuration.groupedSubcommands.map { group in
    (title: group.name, commands: group.subcommands.compactMap { $0.configuration.commandName })
  }

  /// The absolute path of the store's folder.
  let path: String

  /// The lines, joined.
  var text: String {
    let groups = Self.groups.map { title, commands in
      TerminalText.padded(title, to: 10) + commands.joined(separator: "  ")
    }
    return """
      dlstore \(Version.number): durable, resumable downloads

        dlstore get URL                 download a URL into the current folder
        dlstore add URL; dlstore run    store downloads, then run them
        dlstore list --watch            watch them from any terminal

      \(groups.joined(separator: "\n"))

      'dlstore help COMMAND' explains a command, 'dlstore help --all' lists all of them.
      Store: \(TerminalText.safe(path)) (\(store))
      """
  }

  /// What the store contains.
  private var store: String {
    do {
      try StoreFolder.requireStore(at: path)
      let engine = EngineLock.holder(storePath: path)
      let totals = try RecordStore(at: path, access: .readOnly).totals(engineRuns: engine != nil)
      let count = totals.reduce(0) { $0 + $1.recordCount }
      let failed =
        totals.first { $0.word == DownloadState.failedPermanent.word(engineRuns: true) }?
        .recordCount ?? 0
      return "\(count) \(count == 1 ? "download" : "downloads"), \(failed) failed; "
        + (engine.map { "the engine is \($0)" } ?? "no engine is running")
    } catch let error as StoreError where error.code == .notFound && error.cause == nil {
      return "not created yet"
    } catch {
      return "it cannot be read; \(SuggestedCommand.text("list")) says why"
    }
  }
}

/// What `dlstore help --all` prints: every command by use, also those below commands, each in a line.
enum CommandOverview {
  /// Returns the lines, joined.
  ///
  /// - Parameter root: The description of the tool.
  /// - Returns: The lines.
  static func text(of root: CommandInfo) -> String {
    let all = root.visibleCommands.dropFirst()
    let width = (all.map { name(of: $0).count }.max() ?? 0) + 2
    let groups = FirstScreen.groups.map { title, commands in
      let lines = commands.flatMap { command in
        all.filter { first(of: $0) == command && ($0.subcommands ?? []).allSatisfy(isHelp) }
          .map { "  \(TerminalText.padded(name(of: $0), to: width))\($0.abstract ?? "")" }
      }
      return ([title] + lines).joined(separator: "\n")
    }
    return groups.joined(separator: "\n\n")
      + "\n\n'dlstore help COMMAND' has the options of a command, and examples."
  }

  /// The words after the program's name.
  private static func name(of command: CommandInfo) -> String {
    command.fullName.split(separator: " ").dropFirst().joined(separator: " ")
  }

  private static func first(of command: CommandInfo) -> String {
    name(of: command).split(separator: " ").first.map(String.init) ?? ""
  }

  private static func isHelp(_ command: CommandInfo) -> Bool { command.commandName == "help" }
}
