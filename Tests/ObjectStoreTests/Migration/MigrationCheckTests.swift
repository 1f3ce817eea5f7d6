import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// The check of steps against the models of a store.
@Suite struct MigrationCheckTests {
  private static let stored = [
    MigrationCheck.Model(name: "Note", fields: ["id", "text", "rank"], key: "id"),
    MigrationCheck.Model(name: "Shelf", fields: ["id", "name"], key: "id"),
  ]

  /// Returns why operations are refused; `nil` if they are not.
  private func refusal(
    _ operations: MigrationOperation...,
    requiresNames: Bool = false,
    declared: Set<String> = []
  ) throws -> String? {
    var check = MigrationCheck(Self.stored, requiresNames: requiresNames)
    do {
      try check.run([MigrationStep("tidy", to: 2, operations)], declared: declared)
      return nil
    } catch let error as StoreError {
      #expect(error.code == .invalidInput)
      #expect(error.message.hasPrefix("step 2 (tidy) cannot "))
      return error.message
    }
  }

  private let code = MigrationOperation.change("Note") { _, _ in }

  @Test func `operations of which each fits the result of the previous one are accepted`() throws {
    let reason = try refusal(
      .renameModel("Note", to: "Memo"),
      .renameField("text", of: "Memo", to: "body"),
      .removeField("rank", of: "Memo"),
      .renameField("body", of: "Memo", to: "rank"),
      .renameField("id", of: "Memo", to: "number"),
      .removeModel("Shelf"),
      .renameModel("Memo", to: "Shelf"),
      requiresNames: true
    )
    #expect(reason == nil)
  }

  @Test func `a rename onto a field that exists is refused`() throws {
    let reason = try refusal(.renameField("text", of: "Note", to: "rank"))
    #expect(reason?.contains("rename Note.text to rank: Note has a field rank") == true)
    #expect(try refusal(.renameField("id", of: "Note", to: "rank")) != nil)
  }

  @Test func `a rename onto the previous name of another field is refused`() throws {
    let note = MigrationCheck.Model(
      name: "Note",
      fields: ["id", "body", "title"],
      ids: ["body": FieldSchema.id(forName: "text")],
      key: "id"
    )
    func reason(
      _ operations: MigrationOperation...,
      declared: Set<String> = []
    ) throws -> String? {
      var check = MigrationCheck([note], requiresNames: true)
      do {
        try check.run([MigrationStep("tidy", to: 2, operations)], declared: declared)
        return nil
      } catch let error as StoreError {
        return error.message
      }
    }
    let renaming = MigrationOperation.renameField("title", of: "Note", to: "text")
    #expect(try reason(renaming)?.contains("Note.body has the id of the name text") == true)
    #expect(try reason(renaming, declared: ["Note"]) == nil)
    #expect(try reason(.removeField("body", of: "Note"), renaming) == nil)
    #expect(try reason(.renameField("body", of: "Note", to: "text")) == nil)
    #expect(try reason(.renameField("body", of: "Note", to: "x"), renaming) == nil)
  }

  @Test func `a rename of a model to its own name changes nothing`() throws {
    let folder = try TemporaryFolder()
    try folder.open(Author.self).write { try $0.insert(Author(1)) }
    let renaming = MigrationOperation.renameModel("Author", to: "Author")
    _ = try Store(at: folder.path, models: [], options: options(.atOpen, [renaming]))
    let store = try folder.open(Author.self, version: 2)
    #expect(try store.read { try $0.fetch(Author.all) } == [Author(1)])
  }

  @Test func `a rename onto a model that exists is refused`() throws {
    let reason = try refusal(.renameModel("Shelf", to: "Note"))
    #expect(reason?.contains("whose objects it would merge") == true)
  }

  @Test func `after a step with code, the objects decide`() throws {
    #expect(try refusal(code, .renameField("text", of: "Note", to: "rank")) == nil)
    #expect(try refusal(code, .renameModel("Shelf", to: "Note")) == nil)
  }

  @Test func `only a file of steps must name what exists`() throws {
    let operations: [MigrationOperation] = [
      .removeModel("Nobody"), .renameModel("Nobody", to: "Somebody"),
      .removeField("txet", of: "Note"), .removeField("text", of: "Nobody"),
      .renameField("txet", of: "Note", to: "body"), .renameField("text", of: "Nobody", to: "body"),
    ]
    for operation in operations {
      #expect(try refusal(operation) == nil)
      #expect(try refusal(operation, requiresNames: true) != nil)
    }
  }

  @Test func `names that a store cannot have are refused, also for models that it lacks`() throws {
    let long = String(repeating: "x", count: 101)
    for name in ["", "a/b", "store", "a\u{0}b", long] {
      #expect(try refusal(.renameModel("Note", to: name)) != nil)
      #expect(try refusal(.renameModel("Nobody", to: name)) != nil)
    }
    for name in ["", long] {
      #expect(try refusal(.renameField("text", of: "Note", to: name)) != nil)
    }
    #expect(try refusal(.renameField("text", of: "Note", to: "a/b")) == nil)
  }

  @Test func `the primary key of a model that the program does not declare is not removed`()
    throws
  {
    #expect(try refusal(.removeField("id", of: "Note"))?.contains("primary key") == true)
    #expect(try refusal(.removeField("id", of: "Note"), declared: ["Note"]) == nil)
    let renamed = MigrationOperation.renameField("id", of: "Note", to: "number")
    #expect(try refusal(renamed, .removeField("number", of: "Note")) != nil)
    let memo = MigrationOperation.renameModel("Note", to: "Memo")
    #expect(try refusal(.removeField("id", of: "Note"), memo, declared: ["Memo"]) == nil)
  }

  // MARK: Stores

  private func options(
    _ mode: MigrationStep.Mode,
    _ operations: [MigrationOperation]
  )
    -> StoreOptions
  {
    var options = StoreOptions(schemaVersion: 2)
    options.migration = Migration(steps: [MigrationStep("tidy", to: 2, mode: mode, operations)])
    return options
  }

  @Test(arguments: [MigrationStep.Mode.atOpen, .whenRead])
  func `a program's step that would lose values changes nothing`(mode: MigrationStep.Mode) throws {
    let folder = try TemporaryFolder()
    try folder.open(Author.self).write { try $0.insert(Author(1)) }
    let renaming = MigrationOperation.renameField("mail", of: "Author", to: "name")
    for _ in 1...2 {
      let error = #expect(throws: StoreError.self) {
        try Store(at: folder.path, models: [Author.self], options: options(mode, [renaming]))
      }
      #expect(error?.code == .invalidInput)
      #expect(try Store.migrationStatus(at: folder.path).version == 0)
    }
    #expect(try folder.open(Author.self).read { try $0.fetch(Author.all) } == [Author(1)])
  }

  @Test func `a rename after code fails for the object that would lose a value`() throws {
    let folder = try TemporaryFolder()
    try folder.open(Author.self).write { tx in
      try tx.insert(contentsOf: (1...3).map { Author($0) })
    }
    let clearing = MigrationOperation.change("Author") { old, new in
      if try old.value("id", as: Int64.self) != 2 { new.removeField("name") }
    }
    let renaming = MigrationOperation.renameField("mail", of: "Author", to: "name")
    let rehearsal = try Store.rehearseMigration(
      at: folder.path,
      models: [],
      options: options(.atOpen, [clearing, renaming])
    )
    #expect(rehearsal.failures.contains { $0.reason.contains("Author.name has a value") })
    #expect(
      rehearsal.failures.allSatisfy { !$0.reason.contains("Author.name") || $0.objectID == 2 }
    )
  }
}
