internal import CommandLineSupport
internal import DownloadReports
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The configuration file: a JSON object whose keys are the names of settings.
struct ConfigurationFile: Sendable, Hashable {
  /// The absolute path.
  var path: String
  /// The settings in the file, by name; those that are `null` are left out.
  private(set) var texts: [String: [String]] = [:]

  /// The size above which a file cannot be a configuration.
  private static let maximumByteCount = 1 << 20

  /// Parses the contents of a file.
  ///
  /// - Throws: ``CommandFailure`` with `usage`: the file, the position or the key, and what is
  ///   expected.
  init(_ bytes: [UInt8], path: String) throws {
    self.path = path
    let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    guard !bytes.allSatisfy(blanks.contains) else {
      throw CommandFailure(.usage, "\(path): the file is empty: {} is a file without settings")
    }
    let value: JSONValue
    do {
      value = try JSONParser.parse(bytes)
    } catch {
      let (line, column) = Self.position(of: error.offset, in: bytes)
      throw CommandFailure(.usage, "\(path):\(line):\(column): \(error.reason)")
    }
    guard case .object(let members) = value else {
      throw CommandFailure(.usage, "\(path): the file must contain one JSON object")
    }
    for member in members {
      guard let setting = Setting.all.first(where: { $0.name == member.name }) else {
        let suggestion = Suggestion.text(for: member.name, among: Setting.all.map(\.name))
        throw CommandFailure(
          .usage,
          "\(path): there is no setting '\(member.name)'."
            + (suggestion.isEmpty
              ? " \(SuggestedCommand.text("config")) lists the settings" : suggestion)
        )
      }
      do {
        texts[setting.name] = try setting.texts(of: member.value)
      } catch {
        throw CommandFailure(.usage, "\(path): \(setting.name): expected \(error.expected)")
      }
    }
  }

  /// Reads the file.
  ///
  /// Another user who can write the file could choose the store and the proxy, so it is refused.
  ///
  /// - Returns: `nil` if it does not exist and need not.
  /// - Throws: ``CommandFailure`` with `notFound`, `permissionDenied` or `inputOutput`; with
  ///   `usage` for invalid contents.
  static func read(_ path: String, isRequired: Bool) throws -> ConfigurationFile? {
    let path = Folder.absolutePath(path)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if !isRequired, errno == ENOENT || errno == ENOTDIR { return nil }
      throw CommandFailure(
        SystemCall.status(),
        "cannot read the configuration file \(path): \(systemErrorText()); "
          + (isRequired
            ? "correct --config or $DLSTORE_CONFIG, or the permissions of the file"
            : "its place follows from $HOME or $XDG_CONFIG_HOME, which may be those of another "
              + "user: correct them, or set DLSTORE_CONFIG= to read no file")
      )
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard !InputPath.isFolder(descriptor) else {
      throw CommandFailure(.usage, "the configuration file \(path) is a folder, not a file")
    }
    if let reason = FileTrust.objection(to: descriptor, at: path, requiresOwner: !isRequired) {
      throw CommandFailure(
        .permissionDenied,
        "the configuration file \(path) is not used, because \(reason)"
      )
    }
    let data: Data
    do {
      data = try handle.read(upToCount: maximumByteCount + 1) ?? Data()
    } catch {
      throw CommandFailure(.inputOutput, "cannot read the configuration file \(path)")
    }
    guard data.count <= maximumByteCount else {
      throw CommandFailure(.usage, "\(path): the file is larger than 1 MiB")
    }
    return try ConfigurationFile(Array(data), path: path)
  }

  /// Whether the path must be opened, because it exists or cannot be examined.
  static func mayExist(_ path: String) -> Bool {
    access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)
  }

  /// The path of the user's file; `nil` without a home folder.
  static func usualPath(_ environment: [String: String]) -> String? {
    // The XDG specification says to ignore a relative path.
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
      return "\(folder)/dlstore/config.json"
    }
    guard let home = environment["HOME"], !home.isEmpty else { return nil }
    return "\(home)/.config/dlstore/config.json"
  }

  /// The line and the column of an offset, both from 1; columns count bytes.
  private static func position(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
    let before = bytes.prefix(offset)
    let line = before.count { $0 == 0x0A } + 1
    let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return (line, before.count - start + 1)
  }
}
