import ObjectStoreModel

/// The same model in two versions of a program.
enum First {
  @Model(name: "Note")
  struct Note {
    @PrimaryKey var id: Int
    var text: String
    var comment: String?
    var stars: String?
    var views: Int = 0
  }
}

enum Second {
  @Model(name: "Note")
  struct Note {
    @PrimaryKey var id: Int
    @Indexed var text: String
    @Field(renamedFrom: "comment") var remark: String = "none"
    var stars: String?
    @Hot var views: Int = 0
    var isPinned: Bool = false
  }
}

/// A field has become a number, and has another name.
enum Third {
  @Model(name: "Note")
  struct Note {
    @PrimaryKey var id: Int
    @Indexed var text: String
    @Field(renamedFrom: "comment") var remark: String = "none"
    var rating: Int?
    @Hot var views: Int = 0
  }
}

let ratesWhenRead = MigrationStep(
  "write ratings as numbers",
  to: 2,
  mode: .whenRead,
  [
    .renameField("stars", of: "Note", to: "rating"),
    .change("Note", fields: ["rating"]) { old, new in
      new.set("rating", to: try old.optional("stars", as: String.self).flatMap { Int($0) })
    },
  ]
)

let ratesInNumbers = MigrationStep(
  "write ratings as numbers",
  to: 2,
  [
    .renameField("stars", of: "Note", to: "rating"),
    .change("Note") { old, new in
      new.set("rating", to: try old.optional("stars", as: String.self).flatMap { Int($0) })
    },
  ]
)

func migrating(_ folder: String) throws {
  try changingWithoutStep(folder)
  let plain = StoreOptions(schemaVersion: 2)
  var options = StoreOptions(schemaVersion: 2)
  options.migration = Migration(steps: [ratesInNumbers])
  let models: [any Model.Type] = [Third.Note.self]
  let rehearsal = try Store.rehearseMigration(at: folder, models: models, options: options)
  expect(rehearsal.objectCount == 2 && rehearsal.failures.isEmpty)
  do {
    let store = try Store(at: folder, models: [Third.Note.self], options: options)
    let notes = try store.read { try $0.fetch(Third.Note.all) }
    expect(notes.map(\.rating) == [4, nil] && notes.map(\.remark) == ["b", "none"])
    try store.write { tx in try tx.insert(Third.Note(id: 3, text: "new")) }
  }
  let old = try Store(at: folder, models: [First.Note.self])
  expect(old.isReadOnly)
  do {
    let report = try Store.rollBackMigration(at: folder)
    print(report)
    expect(false)
  } catch let error as StoreError where error.code == .busy {
    print(error)
  }
  _ = try Store(at: folder, models: [Third.Note.self], options: plain)
}

func migratingWhenRead(_ folder: String) throws {
  try changingWithoutStep(folder)
  var options = StoreOptions(schemaVersion: 2)
  options.migration = Migration(steps: [ratesWhenRead])
  options.migration?.convertsInBackground = false
  let store = try Store(at: folder, models: [Third.Note.self], options: options)
  expect(try store.conversions().map(\.totalObjectCount) == [2])
  let notes = try store.read { try $0.fetch(Third.Note.all) }
  expect(notes.map(\.rating) == [4, nil])
  for progress in try store.conversions() {
    print("\(progress.model): \(progress.objectCount) of \(progress.totalObjectCount)")
  }
  try store.finishConversions()
  expect(try store.conversions().isEmpty)
}

func changingWithoutStep(_ folder: String) throws {
  let old = try Store(at: folder, models: [First.Note.self])
  try old.write { tx in
    try tx.insert(First.Note(id: 1, text: "a", comment: "b", stars: "4", views: 7))
    try tx.insert(First.Note(id: 2, text: "c"))
  }
  let store = try Store(at: folder, models: [Second.Note.self])
  let notes = try store.read { try $0.fetch(Second.Note.all) }
  expect(notes.map(\.remark) == ["b", "none"] && notes.map(\.views) == [7, 0])
  expect(notes.allSatisfy { !$0.isPinned })
  let plan = try store.read { try $0.explain(Second.Note.where { $0.text == "a" }) }
  expect("\(plan)" == "index (text), 1 equal, ordered")
  try old.write { tx in _ = try tx.update(First.Note.self, key: 2) { $0.views += 1 } }

  let later = try Store(
    at: folder,
    models: [Second.Note.self],
    options: StoreOptions(schemaVersion: 1)
  )
  expect(!later.isReadOnly)
}
