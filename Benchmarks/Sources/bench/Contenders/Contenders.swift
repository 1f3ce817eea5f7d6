import Foundation

/// The contenders by name.
enum Contenders {
  static let ours = "ObjectStore"
  /// Our store with a column of the number that the unindexed filter reads.
  static let columns = "ObjectStore column"
  /// Our store with a model that is stored by key.
  static let byKey = "ObjectStore by key"
  /// Raw C in the layout of our store.
  static let chosen = "C hsplit"
  static let rawC = ["C url", "C hash", "C hidx", chosen]
  static let statements = "GRDB statements"
  static let codable = "GRDB Codable"

  /// In the order of the table.
  static let names = [ours, columns, byKey] + rawC + [statements, codable]

  /// Opens the store in the folder, and creates it if it does not exist.
  static func open(_ name: String, in folder: URL) throws -> any Contender {
    let path = folder.appending(path: name).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return switch name {
    case ours: try StoreContender(at: path)
    case columns: try ColumnContender(at: path)
    case byKey: try KeyContender(at: path)
    case "C url": try CContender(.url, at: path)
    case "C hash": try CContender(.hash, at: path)
    case "C hidx": try CContender(.hidx, at: path)
    case chosen: try CContender(.hsplit, at: path)
    case statements: try StatementContender(at: path)
    case codable: try CodableContender(at: path)
    default: throw Mismatch("there is no contender \(name)")
    }
  }
}

/// The total size of the existing files, in bytes.
func size(of files: [String]) -> Int {
  files.reduce(0) { sum, file in
    let attributes = try? FileManager.default.attributesOfItem(atPath: file)
    return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
  }
}
