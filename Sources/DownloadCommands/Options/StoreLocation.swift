internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation

/// The options `--store` and `--config`, accepted before and after the command's name.
struct StoreLocation: ParsableArguments {
  @Option(
    name: .customLong("store"),
    help: ArgumentHelp(
      "The folder of the store.",
      discussion: "Default: $DLSTORE_STORE, or 'dlstore' in the user's data folder.",
      valueName: "path"
    ),
    completion: .directory
  )
  var path: String?

  /// Read by ``Configuration``, before the command line is parsed.
  @Option(
    help: ArgumentHelp(
      "The configuration file.",
      discussion: "Default: $DLSTORE_CONFIG, or 'dlstore/config.json' in the user's "
        + "configuration folder.",
      valueName: "file"
    ),
    completion: .file(extensions: ["json"])
  )
  var config: String?

  /// The absolute path of the store's folder.
  func resolved() -> String {
    Folder.absolutePath(path ?? Self.usualPath(ProcessInfo.processInfo.environment))
  }

  /// The path if the option is not given.
  static func usualPath(_ environment: [String: String]) -> String {
    #if canImport(Darwin)
      return URL.applicationSupportDirectory.appending(path: "dlstore").path
    #else
      // The XDG specification says to ignore a relative path.
      if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return "\(data)/dlstore" }
      let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
      return "\(home)/.local/share/dlstore"
    #endif
  }

  /// Refuses an empty path.
  func validate() throws {
    guard config?.isEmpty != true else {
      throw ValidationError("--config requires the path of a file.")
    }
    guard path?.isEmpty != true else {
      throw ValidationError("--store requires the path of a folder.")
    }
  }
}
