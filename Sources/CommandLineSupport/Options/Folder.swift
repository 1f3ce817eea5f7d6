internal import Foundation

/// Folders given on the command line.
package enum Folder {
  /// Returns the absolute path without `.` and `..`.
  package static func absolutePath(
    _ path: String,
    current: String = FileManager.default.currentDirectoryPath
  ) -> String {
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
