package import ArgumentParser
package import Foundation

/// A manual page of a command, in the language `mdoc`.
package struct ManualPage {
  /// The name without a section: `dlstore-list`.
  package let name: String
  private let command: CommandInfo
  private let all: [CommandInfo]
  private let version: String
  private let date: Date
  private let sections: [Section]
  private let groups: [Group]

  /// A group of the commands of the root command.
  private struct Group {
    var name: String
    var commands: [String]
  }

  /// A section of the root command's page that describes something other than its options.
  package struct Section: Sendable {
    /// An item of the section.
    package struct Item: Sendable {
      /// The kind of the item's name.
      package enum Kind: String, Sendable {
        /// An environment variable.
        case variable = "Ev"
        /// A path.
        case path = "Pa"
      }

      let kind: Kind
      let name: String
      let text: String
      /// A page to which the text refers, after its end.
      let page: String?

      /// Creates an item.
      package init(_ kind: Kind, _ name: String, _ text: String, page: String? = nil) {
        (self.kind, self.name, self.text, self.page) = (kind, name, text, page)
      }
    }

    let title: String
    let text: String
    let items: [Item]

    /// Creates a section.
    package init(_ title: String, _ text: String = "", items: [Item]) {
      (self.title, self.text, self.items) = (title, text, items)
    }
  }

  /// Creates the pages of the tool.
  ///
  /// - Parameters:
  ///   - type: The root command.
  ///   - version: The version of the tool.
  ///   - date: The date of the pages.
  ///   - sections: Further sections of the root command's page.
  /// - Returns: A page for the root command, and one for each visible command.
  package static func all(
    of type: any ParsableCommand.Type,
    version: String,
    date: Date,
    sections: [Section] = []
  ) -> [ManualPage] {
    let commands = CommandInfo(of: type).visibleCommands
    let groups = type.configuration.groupedSubcommands.map { group in
      Group(
        name: group.name,
        commands: group.subcommands.compactMap { $0.configuration.commandName }
      )
    }
    return commands.map { command in
      ManualPage(
        command: command,
        all: commands,
        version: version,
        date: date,
        sections: command.superCommands == nil ? sections : [],
        groups: command.superCommands == nil ? groups : []
      )
    }
  }

  /// The date of pages that are written now: that of a reproducible build, if there is one.
  package static var date: Date {
    // The convention of reproducible builds: a package sets the date of its last change.
    let seconds = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap(Double.init)
    return seconds.map(Date.init(timeIntervalSince1970:)) ?? Date()
  }

  /// Writes the pages into a folder.
  ///
  /// - Throws: ``CommandFailure`` with `cannotCreate`.
  package static func write(_ pages: [ManualPage], into folder: String) throws {
    for page in pages {
      let path = "\(folder)/\(page.name).1"
      do {
        try Data(page.text.utf8).write(to: URL(filePath: path))
      } catch {
        throw CommandFailure(.cannotCreate, "cannot write \(path): \(error.localizedDescription)")
      }
    }
  }

  private init(
    command: CommandInfo,
    all: [CommandInfo],
    version: String,
    date: Date,
    sections: [Section],
    groups: [Group]
  ) {
    self.groups = groups
    self.command = command
    self.all = all
    self.version = version
    self.date = date
    self.sections = sections
    name = Self.pageName(of: command)
  }

  private static func pageName(of command: CommandInfo) -> String {
    command.fullName.replacing(" ", with: "-")
  }

  /// The text of the page.
  package var text: String {
    var page = Roff()
    page.raw("Dd \(Self.text(of: date))")
    page.macro("Dt", name.uppercased(), "1")
    page.macro("Os", "\(rootName) \(version)")
    page.macro("Sh", "NAME")
    page.macro("Nm", name)
    let abstract = command.abstract ?? ""
    page.macro("Nd", abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract)
    page.macro("Sh", "SYNOPSIS")
    synopsis(&page)
    page.macro("Sh", "DESCRIPTION")
    let parts = HelpText(command.discussion ?? "")
    page.paragraphs(([abstract] + parts.paragraphs).filter { !$0.isEmpty })
    commands(&page)
    options(&page)
    for section in sections { page.add(section) }
    exitStatus(&page)
    examples(parts.examples, &page)
    seeAlso(&page)
    return page.text
  }

  private var isRoot: Bool { command.superCommands == nil }
  private var rootName: String { all.first?.commandName ?? "" }

  /// The date as `mdoc` takes it, in UTC: `January 31, 2026`.
  private static func text(of date: Date) -> String {
    var style = Date.FormatStyle(locale: Locale(identifier: "en_US"), timeZone: .gmt)
    style = style.month(.wide).day().year()
    return date.formatted(style)
  }

  private func synopsis(_ page: inout Roff) {
    page.macro("Nm", command.fullName)
    for argument in command.visibleArguments where !argument.isBuiltIn {
      var words: [String] = []
      switch argument.kind {
      case .positional: words = ["Ar", argument.valueName ?? ""]
      case .flag: words = ["Fl", flagWord(argument)]
      case .option: words = ["Fl", flagWord(argument), "Ar", argument.valueName ?? ""]
      }
      if argument.isRepeating { words.append("...") }
      page.macro(argument.isOptional || argument.isRepeating ? ["Op"] + words : words)
    }
    if command.subcommands?.contains(where: \.shouldDisplay) == true {
      page.macro("Ar", "command")
      page.macro("Op", "Ar", "argument", "...")
    }
  }

  /// The name as `Fl` takes it, which adds a dash.
  private func flagWord(_ argument: ArgumentInfo) -> String {
    String((argument.preferredName?.spelling ?? "").dropFirst())
  }

  private func commands(_ page: inout Roff) {
    let commands = (command.subcommands ?? []).filter {
      $0.shouldDisplay && $0.commandName != "help"
    }
    guard !commands.isEmpty else { return }
    page.macro("Sh", "COMMANDS")
    guard !groups.isEmpty else { return list(commands, &page) }
    for group in groups {
      page.macro("Ss", group.name)
      list(
        group.commands.compactMap { name in commands.first { $0.commandName == name } },
        &page
      )
    }
  }

  private func list(_ commands: [CommandInfo], _ page: inout Roff) {
    page.raw("Bl -tag -width Ds")
    for command in commands {
      page.macro("It", "Xr", Self.pageName(of: command), "1")
      page.sentences(command.abstract ?? "")
    }
    page.macro("El")
  }

  private func options(_ page: inout Roff) {
    page.macro("Sh", "OPTIONS")
    page.raw("Bl -tag -width Ds")
    for argument in command.visibleArguments {
      var words: [String] = []
      for (index, spelling) in argument.spellings.enumerated() {
        if index > 0 { words += [","] }
        words += ["Fl", String(spelling.dropFirst())]
      }
      if argument.kind != .flag { words += ["Ar", argument.valueName ?? ""] }
      page.macro(["It"] + words)
      var sentences = [argument.abstract, argument.discussion].compactMap { $0 }
      if let values = argument.allValues, !values.isEmpty {
        sentences.append("One of: \(values.joined(separator: ", ")).")
      }
      if let value = argument.defaultValue, argument.kind != .flag {
        sentences.append("Default: \(value).")
      }
      page.sentences(sentences.joined(separator: " "))
    }
    page.macro("El")
  }

  private func exitStatus(_ page: inout Roff) {
    page.macro("Sh", "EXIT STATUS")
    page.sentences("0 on success, 1 if a part of the command failed, 64 for a usage error.")
    if isRoot {
      page.sentences("The description lists the other codes.")
    } else {
      page.macro("Xr", rootName, "1")
      page.sentences("lists the other codes.")
    }
  }

  private func examples(_ lines: [String], _ page: inout Roff) {
    guard !lines.isEmpty else { return }
    page.macro("Sh", "EXAMPLES")
    page.raw("Bd -literal -offset indent")
    for line in lines { page.literal(line) }
    page.macro("Ed")
  }

  private func seeAlso(_ page: inout Roff) {
    let others = all.map(Self.pageName).filter { $0 != name }.sorted()
    page.macro("Sh", "SEE ALSO")
    for (index, other) in others.enumerated() {
      page.macro(["Xr", other, "1"] + (index < others.count - 1 ? [","] : []))
    }
  }
}

/// Text in the language of `roff`.
private struct Roff {
  private(set) var text = ""

  /// Appends a macro line.
  mutating func macro(_ words: String...) {
    macro(words)
  }

  /// Appends a macro line.
  mutating func macro(_ words: [String]) {
    text += "."
    for (index, word) in words.enumerated() {
      text += index == 0 ? word : " " + Self.argument(word)
    }
    text += "\n"
  }

  /// Appends a macro line whose words are written as they are.
  mutating func raw(_ line: String) {
    text += ".\(line)\n"
  }

  /// Appends text, with each sentence on a line of its own.
  mutating func sentences(_ text: String) {
    for line in text.replacing(". ", with: ".\n").split(separator: "\n") { literal(String(line)) }
  }

  /// Appends a text line.
  mutating func literal(_ line: String) {
    let escaped = Self.escaped(line)
    // A leading dot or apostrophe would begin a macro.
    text += (escaped.first == "." || escaped.first == "'" ? "\\&" : "") + escaped + "\n"
  }

  /// Appends a section.
  mutating func add(_ section: ManualPage.Section) {
    macro("Sh", section.title)
    sentences(section.text)
    raw("Bl -tag -width Ds")
    for item in section.items {
      macro("It", item.kind.rawValue, item.name)
      sentences(item.text)
      if let page = item.page { macro("Xr", page, "1", ".") }
    }
    macro("El")
  }

  /// Appends paragraphs, separated by vertical space.
  mutating func paragraphs(_ paragraphs: [String]) {
    for (index, paragraph) in paragraphs.enumerated() {
      if index > 0 { macro("Pp") }
      sentences(paragraph)
    }
  }

  private static func argument(_ word: String) -> String {
    let isPunctuation = word == "," || word == "."
    // Words of up to three letters could be macros.
    let isMacro = word.count <= 3 && word.first?.isUppercase == true && !keywords.contains(word)
    let escaped = (isMacro ? "\\&" : "") + escaped(word).replacing("\"", with: "\\(dq")
    return isPunctuation || !escaped.contains(" ") && !escaped.isEmpty ? escaped : "\"\(escaped)\""
  }

  /// The macros that are used as arguments of another macro.
  private static let keywords: Set = ["Ar", "Fl", "Ev", "Pa", "Xr", "Op"]

  private static func escaped(_ text: String) -> String {
    // A dash that is typed must not become a hyphen.
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
  }
}
