/// The roots of a store by their paths, to find the root that contains a folder.
package struct RootFolders: Sendable {
  private var names: [StoredText: String] = [:]
  /// The paths of roots that are to be made, in order.
  package private(set) var new: [String] = []

  /// Creates the lookup of some roots.
  package init(_ roots: Roots) {
    // Of several roots with one path, the first name counts.
    for root in roots.allWithTemporary.reversed() { names[StoredText(root.path)] = root.name }
  }

  /// Returns the place of a folder below a root.
  ///
  /// - Parameter path: An absolute path without `.` and `..`.
  /// - Returns: The root that contains the folder, the deepest if several do, and the folder's path
  ///   below it; `nil` if none does.
  /// - Complexity: O(n) for n bytes in the path.
  package func place(of path: String) -> (root: String, folder: String)? {
    var parent = path[...]
    while true {
      if let name = names[StoredText(String(parent))] {
        let rest = path.utf8.dropFirst(parent.utf8.count).drop { $0 == UInt8(ascii: "/") }
        return (name, String(rest) ?? "")
      }
      guard parent != "/", let slash = parent.utf8.lastIndex(of: UInt8(ascii: "/")) else {
        return nil
      }
      parent = slash == parent.startIndex ? "/" : parent[..<slash]
    }
  }

  /// Notes that a root with a path is to be made.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidName`.
  package mutating func add(_ path: String) throws(RecordStoreError) {
    let path = try Root.validatedPath(path)
    guard names[StoredText(path)] == nil else { return }
    names[StoredText(path)] = ""
    new.append(path)
  }
}
