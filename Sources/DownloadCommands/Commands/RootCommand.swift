internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import SystemInterface

/// `dlstore root`: shows and changes the folders below which downloads are stored.
struct RootCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "root",
    abstract: "Shows and changes the folders below which files are stored.",
    discussion: """
      Records contain paths relative to a root. If a disk or a folder has moved, one change of its \
      root makes all its files known again.

      EXAMPLES:
        dlstore root list
        dlstore root set /mnt/downloads
      """,
    subcommands: [RootListCommand.self, RootSetCommand.self],
    defaultSubcommand: RootListCommand.self
  )

  @OptionGroup var location: StoreLocation
}

/// `dlstore root list`: lists the roots.
struct RootListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the roots: their names, their paths, and whether the folders exist.",
    discussion: """
      The folder of the temporary files of 'get -o -' is only in the JSON array.

      EXAMPLES:
        dlstore root list
        dlstore root list --json
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Flag(help: "Print one JSON array.")
  var json = false

  func run() async throws {
    let store = try location.openedForReading(reading)
    let roots = try store.roots().all
    if json {
      let temporary = (name: RootName.temporary, path: store.temporaryFolder)
      let shown = Folder.exists(temporary.path) ? roots + [temporary] : roots
      let values: [JSONValue] = shown.map { root in
        [
          "name": .string(root.name), "path": .string(root.path),
          "exists": .bool(Folder.exists(root.path)),
        ]
      }
      return try Output.current.line(JSONValue.array(values).prettyText)
    }
    var table = TableOutput(columns: [
      .init(title: "NAME"), .init(title: "EXISTS"), .init(title: "PATH"),
    ])
    table.rows = roots.map { [$0.name, Folder.exists($0.path) ? "yes" : "no", $0.path] }
    try Output.current.line(table.lines(width: Terminal.output.width).joined(separator: "\n"))
  }
}

/// `dlstore root set`: changes the path of a root.
struct RootSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Changes the path of a root, also for its existing downloads.",
    discussion: """
      Moves no files: move the folder first. Without NAME it changes the default root. Refused with \
      exit code 75 while an engine runs, because an engine reads the roots when it starts.

      EXAMPLES:
        dlstore root set /mnt/downloads
        dlstore root set root-1f0c4e8a2b6d9e37 /mnt/archive
      """
  )

  @OptionGroup var location: StoreLocation

  @Argument(
    help: ArgumentHelp(
      "The name of the root; or, without a second argument, the new path of the default root.",
      valueName: "name|path"
    ),
    completion: .directory
  )
  var first: String

  @Argument(
    help: ArgumentHelp("The new path of the named root.", valueName: "path"),
    completion: .directory
  )
  var second: String?

  func validate() throws {
    guard !first.isEmpty, second?.isEmpty != true else {
      throw ValidationError("The name and the path must not be empty.")
    }
  }

  func run() async throws {
    let store = try RecordStore(at: location.resolved(), access: .readWrite)
    let name = second == nil ? RootName.standard : first
    let path = try Folder.existing(at: second ?? first)
    let lock = try EngineLock(storePath: store.path)
    let roots = try store.roots().all
    guard let old = roots.first(where: { $0.name == name }) else {
      let names = roots.map { $0.name }
      throw CommandFailure(
        .failed,
        "the store has no root named '\(name)'; the roots are: \(names.joined(separator: " "))."
          + Suggestion.text(for: name, among: names)
      )
    }
    if let other = roots.first(where: { $0.path == path && $0.name != name }) {
      throw CommandFailure(.failed, "\(path) is already the path of the root '\(other.name)'")
    }
    try store.setRoot(path, named: name)
    withExtendedLifetime(lock) {}
    let change = "\(name)  \(old.path) -> \(path)"
    try Output.current.report(TerminalText.safe(change) + "\n")
  }
}

extension Folder {
  /// Whether there is a folder at the path.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return statFollowingLinks(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the absolute path of an existing folder, with symbolic links resolved, so that one
  /// folder is one root.
  ///
  /// - Throws: ``CommandFailure`` with `notFound`, `permissionDenied`, `cannotCreate` or `usage`.
  static func existing(at path: String) throws -> String {
    let path = absolutePath(path)
    guard let resolved = try resolved(path) else {
      let code = errno
      throw CommandFailure(
        SystemCall.status(code),
        "\(path): \(systemErrorText(code)): create or mount the folder first"
      )
    }
    guard exists(resolved) else {
      throw CommandFailure(.cannotCreate, "\(path) is not a folder")
    }
    return resolved
  }
}
