internal import Foundation

/// Folders given on the command line.
package enum Folder {
  /// Returns the absolute path without `.` and `..`.
  ///
  /// A relative path stays as it is if the current folder was deleted, so that its use fails.
  package static func absolutePath(
    _ path: String,
    current: String = FileManager.default.currentDirectoryPath
  ) -> String {
    let isAbsolute = path.utf8.first == slash
    guard isAbsolute || current.utf8.first == slash else { return path }
    var parts: [Substring] = []
    for part in components(of: isAbsolute ? path[...] : "\(current)/\(path)") {
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// Returns the names between the slashes of a path.
  package static func components(of path: Substring) -> [Substring] {
    // Compares bytes: a slash with a combining mark is one Character, but a slash to the file
    // system.
    path.utf8.split(separator: slash).map { Substring($0) }
  }

  private static let slash = UInt8(ascii: "/")
}
