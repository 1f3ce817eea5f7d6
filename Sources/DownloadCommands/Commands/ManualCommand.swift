internal import ArgumentParser
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
    let folder = try Folder.made(at: folder)
    // The convention of reproducible builds: a package sets the date of its last change.
    let seconds = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap(Double.init)
    let pages = ManualPage.all(
      of: CommandInfo(of: DLStoreCommand.self),
      version: Version.number,
      date: seconds.map(Date.init(timeIntervalSince1970:)) ?? Date()
    )
    for page in pages {
      let path = "\(folder)/\(page.name).1"
      do {
        try Data(page.text.utf8).write(to: URL(filePath: path))
      } catch {
        throw CommandFailure(.cannotCreate, "cannot write \(path): \(error.localizedDescription)")
      }
    }
  }
}
