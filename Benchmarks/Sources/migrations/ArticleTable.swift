import Foundation
import GRDB

/// The same articles in SQLite, with GRDB's migrations.
struct ArticleTable {
  let folder: String

  private var path: String { folder + "/articles.sqlite" }

  private static func migrator() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("first") { database in
      try database.create(table: "article") { table in
        table.primaryKey("url", .text)
        table.column("title", .text).notNull()
        table.column("note", .text).notNull()
        table.column("year", .integer).notNull()
        table.column("stars", .integer).notNull()
        table.column("views", .integer).notNull()
      }
    }
    return migrator
  }

  func load(_ count: Int, _ report: inout Report) throws {
    let pool = try DatabasePool(path: path)
    try Self.migrator().migrate(pool)
    let time = try ContinuousClock().measure {
      for start in stride(from: 0, to: count, by: 10_000) {
        try pool.write { database in
          let statement = try database.makeStatement(
            sql: "INSERT INTO article VALUES (?, ?, ?, ?, ?, ?)"
          )
          for number in start..<min(start + 10_000, count) {
            let contents = Contents.sample(number)
            try statement.execute(arguments: [
              contents.url, contents.title, contents.note, contents.year, contents.stars,
              contents.views,
            ])
          }
        }
      }
    }
    report.add("bulk insert", "GRDB", time)
    try pool.close()
  }

  /// Measures opening the database, without a change and with a migration that adds a column.
  func measureOpening(_ report: inout Report) throws {
    try measure("open, no change", &report, Self.migrator())
    var migrator = Self.migrator()
    migrator.registerMigration("second") { database in
      try database.alter(table: "article") { table in table.add(column: "rating", .integer) }
    }
    try measure("open, added field", &report, migrator)
  }

  /// Measures a migration that creates an index.
  func measureIndex(_ report: inout Report) throws {
    var migrator = Self.migrator()
    migrator.registerMigration("second") { database in
      try database.alter(table: "article") { table in table.add(column: "rating", .integer) }
    }
    migrator.registerMigration("third") { database in
      try database.create(index: "article_title", on: "article", columns: ["title"])
    }
    try measure("index, at open", &report, migrator)
  }

  /// Measures a migration that writes all rows to a new table, as SQLite's documentation advises
  /// for a change of type.
  func measureTypeChange(_ report: inout Report) throws {
    var migrator = Self.migrator()
    migrator.registerMigration("second") { database in
      try database.alter(table: "article") { table in table.add(column: "rating", .integer) }
    }
    migrator.registerMigration("third") { database in
      try database.create(index: "article_title", on: "article", columns: ["title"])
    }
    migrator.registerMigration("fourth") { database in
      try database.drop(index: "article_title")
      try database.create(table: "new") { table in
        table.primaryKey("url", .text)
        table.column("title", .text).notNull()
        table.column("note", .text).notNull()
        table.column("year", .text).notNull()
        table.column("stars", .integer).notNull()
        table.column("views", .integer).notNull()
      }
      let rows = try Row.fetchCursor(database, sql: "SELECT * FROM article")
      let statement = try database.makeStatement(sql: "INSERT INTO new VALUES (?, ?, ?, ?, ?, ?)")
      while let row = try rows.next() {
        let year: Int64 = row["year"]
        try statement.execute(arguments: [
          row["url"], row["title"], row["note"], String(year), row["stars"], row["views"],
        ])
      }
      try database.drop(table: "article")
      try database.rename(table: "new", to: "article")
    }
    try measure("change of type, at open", &report, migrator)
  }

  private func measure(
    _ name: String,
    _ report: inout Report,
    _ migrator: DatabaseMigrator
  ) throws {
    var pool: DatabasePool?
    let time = try ContinuousClock().measure {
      pool = try DatabasePool(path: path)
      if let pool { try migrator.migrate(pool) }
    }
    report.add(name, "GRDB", time)
    try pool?.close()
  }
}
