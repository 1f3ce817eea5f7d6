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
    guard path.hasPrefix("/") || current.hasPrefix("/") else { return path }
    var parts: [Substring] = []
    for part in (path.hasPrefix("/") ? path : "\(current)/\(path)").split(separator: "/") {
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }
}
