internal import ArgumentParser
internal import Foundation

/// Where the store is: an option that every command has, before its name and after it.
struct StoreLocation: ParsableArguments {
  @Option(
    name: .customLong("store"),
    help: ArgumentHelp(
      "The folder of the store.",
      discussion: "Else $DLSTORE_STORE, else 'dlstore' in the platform's folder for data.",
      valueName: "path"
    ),
    completion: .directory
  )
  var path: String?

  /// The absolute path of the store's folder.
  func resolved() -> String {
    Folder.absolutePath(path ?? Self.usualPath(ProcessInfo.processInfo.environment))
  }

  /// The path without the option.
  static func usualPath(_ environment: [String: String]) -> String {
    if let path = environment["DLSTORE_STORE"], !path.isEmpty { return path }
    #if canImport(Darwin)
      return URL.applicationSupportDirectory.appending(path: "dlstore").path
    #else
      // A relative path there is to be ignored, says the XDG specification.
      if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return "\(data)/dlstore" }
      let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
      return "\(home)/.local/share/dlstore"
    #endif
  }

  /// Refuses an empty path.
  func validate() throws {
    guard path?.isEmpty != true else {
      throw ValidationError("--store needs the path of a folder.")
    }
  }
}
