import GRDB

/// The versions of the measured software.
enum Versions {
  static var all: [String: String] {
    ["liblmdb": CContender.lmdbVersion, "GRDB": "7.10.0", "SQLite": sqlite, "Swift": swift]
  }

  private static var sqlite: String {
    let version = try? DatabaseQueue().read {
      try String.fetchOne($0, sql: "SELECT sqlite_version()")
    }
    return version ?? "unknown"
  }

  private static var swift: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #else
      "6.3"
    #endif
  }
}
