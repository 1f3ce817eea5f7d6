internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation

/// `dlstore generate-manual`: writes the manual pages; hidden, for `make man`.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate-manual",
    abstract: "Writes the manual pages into a folder.",
    shouldDisplay: false
  )

  @Argument(help: "The folder; created if missing.", completion: .directory)
  var folder: String

  func run() throws {
    try ManualPage.write(Self.pages(date: ManualPage.date), into: Folder.made(at: folder))
  }

  /// The pages of the tool.
  static func pages(date: Date) -> [ManualPage] {
    ManualPage.all(
      of: DLStoreCommand.self,
      version: Version.number,
      date: date,
      sections: [
        ManualPage.Section(
          "ENVIRONMENT",
          "Options override these variables, and the variables override the configuration file.",
          items: Setting.all.map { setting in
            .init(
              .variable,
              setting.variable,
              "The option --\(setting.name): \(setting.option.abstract ?? "")"
            )
          } + [
            .init(
              .variable,
              Setting.fileVariable,
              "The configuration file. If it is empty, no file is read."
            )
          ]
        ),
        ManualPage.Section(
          "FILES",
          items: [
            .init(
              .path,
              "~/.config/dlstore/config.json",
              "The configuration file, described in",
              page: "dlstore-config"
            ),
            .init(.path, "~/.local/share/dlstore", "The store."),
          ]
        ),
      ]
    )
  }
}
