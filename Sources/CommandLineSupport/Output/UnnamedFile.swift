package import Foundation
internal import SystemInterface

/// Temporary files without a name.
package enum UnnamedFile {
  /// The folder in which the files take up space.
  package static var folder: URL { FileManager.default.temporaryDirectory }

  /// Creates an empty file that only this process, and children that inherit it, can read.
  ///
  /// - Returns: A descriptor that `exec` closes, or -1 and `errno`.
  package static func create() -> Int32 {
    openUnnamedFile(folder.appending(path: "import-XXXXXX").path)
  }
}
