import ObjectStoreModel

func verification(_ folder: String) throws {
  let report = try Store.verify(at: folder)
  for problem in report.problems { print(problem) }
  expect(report.isValid)
}

func repair(_ folder: String, _ rescued: String) throws {
  let report = try Store.repair(at: folder, into: rescued, models: [Author.self])
  expect(report.isComplete)
}

func backup(_ store: Store, _ folder: String) throws {
  try store.backup(to: folder)
}

func compaction(_ folder: String) throws {
  let bytes = try Store.compact(at: folder)
  let options = StoreOptions(compaction: CompactionRule())
  _ = try Store(at: folder, models: [Author.self, Book.self, Loan.self], options: options)
  try Store.compact(at: folder, if: CompactionRule(minimumFreeFraction: 0.1))
  expect(bytes >= 0)
}

func exports(_ store: Store, _ file: String, _ folder: String) throws {
  try store.exportJSONLines(to: file)
  let copy = try Store(at: folder, models: [Author.self, Book.self, Loan.self])
  let report = try copy.importJSONLines(from: file)
  expect(report.inserted > 0 && report.unknownModels.isEmpty)
}

func inspection(_ store: Store) throws {
  for model in try store.storedModels() {
    print(model.name, model.objectCount, model.fields.map(\.name))
  }
  try store.forEachStoredObject(of: "Author") { object in
    print(object["name"] ?? .null)
    return true
  }
  let statistics = try store.statistics()
  for reader in statistics.slowReaders() { print(reader.processID, reader.ageInCommits) }
}
