/// A contender before it has a store.
struct Entry: Sendable {
  let name: String
  private let make: @Sendable (String, String) throws -> any Contender

  /// Makes an empty store in the folder, which is there and empty.
  func open(at path: String) throws -> any Contender { try make(name, path) }

  /// What ratios refer to.
  static let reference = "ids+hot"

  static let all = [
    Entry(name: "url") { name, path in
      try LayoutContender(name, at: path) { try URLLayout(in: &$0) }
    },
    Entry(name: "hash") { name, path in
      try LayoutContender(name, at: path) { try HashLayout(in: &$0) }
    },
    Entry(name: "ids") { name, path in
      try LayoutContender(name, at: path) { try IDLayout(hotSize: 0, in: &$0) }
    },
    Entry(name: reference) { name, path in
      try LayoutContender(name, at: path) {
        try IDLayout(hotSize: PackedDownload.progressSize, in: &$0)
      }
    },
    Entry(name: "ids+scalars") { name, path in
      try LayoutContender(name, at: path) {
        try IDLayout(hotSize: PackedDownload.scalarSize, in: &$0)
      }
    },
    Entry(name: "ObjectStore, nothing hot") { name, path in
      try StoreContender(name, at: path, hot: NothingIsHot.self)
    },
    Entry(name: "ObjectStore") { name, path in
      try StoreContender(name, at: path, hot: ProgressIsHot.self)
    },
    Entry(name: "ObjectStore, scalars hot") { name, path in
      try StoreContender(name, at: path, hot: ScalarsAreHot.self)
    },
  ]
}
