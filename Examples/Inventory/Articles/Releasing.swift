import Foundation
import MigrationTesting
package import ObjectStoreModel

/// The recipes of the first release.
enum FirstRelease {
  package enum RecipeSchema {
    package static let version: UInt32 = 1
  }

  @Model(name: "Recipe")
  struct Recipe {
    @PrimaryKey var id: Int
    var title: String
    var minutes: String
    var text: String
  }
}

/// A name that is another one, and an index.
enum SecondRelease {
  @Model(name: "Recipe")
  struct Recipe {
    @PrimaryKey var id: Int
    @Indexed @Field(renamedFrom: "title") var name: String
    var minutes: String
    var text: String
  }
}

/// A field of another type.
@Model
struct Recipe {
  @PrimaryKey var id: Int
  @Indexed @Field(renamedFrom: "title") var name: String
  var minutes: Int
  var text: String
}

package enum RecipeSchema {
  package static let version: UInt32 = 2

  package static var options: StoreOptions {
    StoreOptions(schemaVersion: version, migration: Migration(steps: [minutesAsNumbers]))
  }
}

/// A field of another type and with another name.
enum FourthRelease {
  @Model(name: "Recipe")
  struct Recipe {
    @PrimaryKey var id: Int
    @Indexed @Field(renamedFrom: "title") var name: String
    @Field(renamedFrom: "minutes") var duration: Int
    var text: String
  }
}

let minutesAsDuration = MigrationStep(
  "write minutes as numbers",
  to: 2,
  [
    .renameField("minutes", of: "Recipe", to: "duration"),
    .change("Recipe") { old, new in
      let text = try old.value("minutes", as: String.self)
      new.set("duration", to: Int(text.prefix { $0.isNumber }) ?? 0)
    },
  ]
)

let minutesAsNumbers = MigrationStep(
  "write minutes as numbers",
  to: 2,
  [
    .change("Recipe") { old, new in
      let text = try old.value("minutes", as: String.self)
      new.set("minutes", to: Int(text.prefix { $0.isNumber }) ?? 0)
    }
  ]
)

/// The tool of the package, which is not run here.
func recipesSchema() -> Never {
  SchemaCommand(models: [Recipe.self], version: RecipeSchema.version, folder: "Migrations").main()
}

/// The test of the package, which is not run here: the folder of the models is another one.
func requiresReleasedModels() throws {
  let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  let releases = SchemaFolder(tests.deletingLastPathComponent().appending(path: "Migrations").path)
  try releases.require([Recipe.self], version: RecipeSchema.version)
}

func releasing(_ folder: String, _ migrations: String) throws {
  let releases = SchemaFolder(migrations)
  _ = try releases.accept([FirstRelease.Recipe.self], version: 1)
  _ = try releases.release([FirstRelease.Recipe.self], version: 1)
  let first = try Store(at: folder, models: [FirstRelease.Recipe.self])
  try first.write { tx in
    for id in 1...20_000 {
      try tx.insert(FirstRelease.Recipe(id: id, title: "soup \(id)", minutes: "9 min", text: ""))
    }
  }

  // A rename and an index.
  let safe = try releases.accept([SecondRelease.Recipe.self], version: 1)
  expect("\(safe)".contains("Recipe.name: safe: the field was renamed from title"))
  expect("\(safe)".contains("Recipe(name): rebuilds: new programs build the index"))
  _ = try releases.release([SecondRelease.Recipe.self], version: 1)
  try secondRelease(folder, beside: first)

  // A change of type.
  let report = try releases.accept([Recipe.self], version: 2)
  expect("\(report)".contains("Recipe.minutes: needs a step"))
  try releases.require([Recipe.self], version: RecipeSchema.version)
  _ = try releases.release([Recipe.self], version: RecipeSchema.version)
  try migrates(releases)
}

/// A program of the second release beside one of the first.
func secondRelease(_ folder: String, beside first: Store) throws {
  let store = try Store(at: folder, models: [SecondRelease.Recipe.self])
  for build in try store.indexBuilds() {
    print("\(build.model): \(build.objectCount) of \(build.totalObjectCount)")
  }
  try first.write { tx in
    try tx.insert(FirstRelease.Recipe(id: 0, title: "tea", minutes: "3 min", text: ""))
  }
  try store.finishIndexBuilds()
  let query = SecondRelease.Recipe.where { $0.name == "tea" }
  expect(try store.read { try $0.fetch(query).map(\.id) } == [0])
}

func migrates(_ releases: SchemaFolder) throws {
  let tester = MigrationTester(models: [Recipe.self], options: RecipeSchema.options)
  for release in 1...2 {
    for count in [0, 1, 100] {
      try tester.check(.generated(from: releases, release: release, count: count))
    }
  }
  let nineMinutes = MigrationFixture.generated(
    from: releases,
    release: 1,
    count: 10,
    values: ["Recipe.minutes": [.string("9 min")]]
  )
  try tester.checkResult(nineMinutes) { store in
    expect(try store.read { try $0.fetch(Recipe.all) }.allSatisfy { $0.minutes == 9 })
  }
  let renaming = MigrationTester(
    models: [FourthRelease.Recipe.self],
    options: StoreOptions(schemaVersion: 2, migration: Migration(steps: [minutesAsDuration]))
  )
  try renaming.checkResult(nineMinutes) { store in
    expect(
      try store.read { try $0.fetch(FourthRelease.Recipe.all) }.allSatisfy { $0.duration == 9 }
    )
  }
}

/// A command of the third release that only reads.
func openForReading(_ folder: String) throws -> Store {
  var reading = RecipeSchema.options
  reading.access = .readOnly
  do {
    return try Store(at: folder, models: [Recipe.self], options: reading)
  } catch let error as StoreError where error.code == .schemaMismatch {
    _ = try Store(at: folder, models: [Recipe.self], options: RecipeSchema.options)
    return try Store(at: folder, models: [Recipe.self], options: reading)
  }
}

/// The program of the third release.
func thirdRelease(_ folder: String) throws {
  let rehearsal = try Store.rehearseMigration(
    at: folder,
    models: [Recipe.self],
    options: RecipeSchema.options
  )
  for failure in rehearsal.failures { print(failure) }
  expect(rehearsal.objectCount == 20_001 && rehearsal.failureCount == 0)
  do {
    let store = try Store(at: folder, models: [Recipe.self], options: RecipeSchema.options)
    expect(try store.read { try $0.find(Recipe.self, key: 0)?.minutes } == 3)
  }
  let report = try Store.rollBackMigration(at: folder)
  print(report.lost)
  expect(report.version == 1 && report.lost.isEmpty)
  do {
    let second = try Store(at: folder, models: [SecondRelease.Recipe.self])
    expect(try second.read { try $0.count(SecondRelease.Recipe.all) } == 20_001)
  }
  let again = try openForReading(folder)
  expect(try again.read { try $0.find(Recipe.self, key: 0)?.minutes } == 3)
}
