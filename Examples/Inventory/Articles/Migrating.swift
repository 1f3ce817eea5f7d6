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
    var rating: Int?
    @Hot var views: Int = 0
    var isPinned: Bool = false
  }
}

/// One field has become a number.
enum Third {
  @Model(name: "Note")
  struct Note {
    @PrimaryKey var id: Int
    var stars: Int?
  }
}

func migrating(_ folder: String) throws {
  let old = try Store(at: folder, models: [First.Note.self])
  try old.write { tx in
    try tx.insert(First.Note(id: 1, text: "a", comment: "b", stars: "4", views: 7))
    try tx.insert(First.Note(id: 2, text: "c"))
  }

  let options = StoreOptions(schemaVersion: 2)
  let store = try Store(at: folder, models: [Second.Note.self], options: options)
  let notes = try store.read { try $0.fetch(Second.Note.all) }
  expect(notes.map(\.remark) == ["b", "none"] && notes.map(\.views) == [7, 0])
  expect(notes.allSatisfy { !$0.isPinned })
  let plan = try store.read { try $0.explain(Second.Note.where { $0.text == "a" }) }
  expect("\(plan)" == "index (text), 1 equal, ordered")

  _ = try store.write { tx in
    try tx.update(Second.Note.where { $0.rating == nil }) { note in
      note.rating = note.stars.flatMap { Int($0) }
    }
  }
  let ratings = try store.read { try $0.fetch(Second.Note.all).map(\.rating) }
  expect(ratings == [4, nil])

  do {
    try old.write { tx in try tx.insert(First.Note(id: 3, text: "late")) }
    expect(false)
  } catch let error as StoreError where error.code == .tooNew {
    print(error)
  }
  do {
    _ = try Store(at: folder, models: [Third.Note.self], options: options)
    expect(false)
  } catch let error as StoreError where error.code == .schemaMismatch {
    print(error)
  }
}
