import ObjectStoreModel

func observing(_ store: Store) async throws {
  let watcher = Task {
    var rows = Rows()
    for try await change in store.observe(Author.where { $0.born < 1800 }.order(by: \.name)) {
      rows.remove(at: change.deletions)
      rows.insert(change.snapshot, at: change.insertions)
      rows.reload(change.snapshot, at: change.modifications)
      if change.isInitial { rows.load(change.snapshot) }
      if rows.names == ["William Blake"] { break }
    }
    return rows.names
  }
  _ = try await store.write { try $0.upsert(Author(id: 8, name: "William Blake", born: 1757)) }
  let names = try await watcher.value
  expect(names == ["William Blake"])
}

func observingOne(_ store: Store) async throws {
  for try await look in store.observe(Author.self, key: 8) {
    show(look.object)
    expect(look.object?.born == 1757)
    break
  }
  for try await change in store.observe(Author.all, fields: [\.name]) {
    show(change.snapshot)
    expect(!change.snapshot.isEmpty)
    break
  }
}

func ownWrites(_ store: Store) throws {
  let authors = store.observe(Author.all)
  try store.write(withoutNotifying: [authors.observer]) { tx in
    try tx.update(Author.self, key: 8) { $0.name = "Mary Shelley" }
  }
  let author = try store.read { try $0.find(Author.self, key: 8) }
  expect(author?.name == "Mary Shelley")
}

@MainActor
func live(_ store: Store) {
  let authors = LiveQuery(Author.all.order(by: \.name), in: store)
  expect(authors.objects.isEmpty && !authors.isLoaded)
}

private func show(_ author: Author?) {}

private func show(_ authors: ResultSnapshot<Author>) {}

private struct Rows {
  var names: [String] = []

  mutating func load(_ authors: ResultSnapshot<Author>) { names = authors.map(\.name) }

  mutating func remove(at places: [Int]) {
    for place in places.reversed() { names.remove(at: place) }
  }

  mutating func insert(_ authors: ResultSnapshot<Author>, at places: [Int]) {
    for place in places { names.insert(authors[place].name, at: place) }
  }

  mutating func reload(_ authors: ResultSnapshot<Author>, at places: [Int]) {
    for place in places { names[place] = authors[place].name }
  }
}
