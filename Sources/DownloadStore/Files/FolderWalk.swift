#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Lists files below a folder.
enum FolderWalk {
  /// Returns the paths of all files below a folder, at any depth.
  ///
  /// Symbolic links are listed, not followed. Folders that cannot be read are skipped.
  static func files(below folder: String) -> [String] {
    var files: [String] = []
    var folders = [folder]
    while let next = folders.popLast() {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: next)) ?? []
      for name in names {
        let path = "\(next)/\(name)"
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type]
        if type as? FileAttributeType == .typeDirectory {
          folders.append(path)
        } else {
          files.append(path)
        }
      }
    }
    return files
  }
}
