import ObjectStoreModel

func history(_ store: Store) throws {
  var search = SearchIndex()
  var token = try store.historyToken()
  try store.write { tx in
    try tx.insert(Author(id: 7, name: "Mary Shelley"))
    try tx.delete(Author.self, key: 2)
  }

  switch try store.changes(since: token, of: Author.self) {
  case .changes(let changes):
    for key in changes.deleted { search.remove(key) }
    for author in changes.inserted { search.add(author) }
    for update in changes.updated where update.fields.contains(\.name) {
      search.add(update.object)
    }
    token = changes.token
  case .expired:
    try store.read { tx in
      search = SearchIndex()
      for author in try tx.fetch(Author.all) { search.add(author) }
      token = try tx.historyToken()
    }
  }
  expect(search.names == [7: "Mary Shelley"])
}

private struct SearchIndex {
  var names: [Int: String] = [:]

  mutating func add(_ author: Author) { names[author.id] = author.name }
  mutating func remove(_ id: Int) { names[id] = nil }
}
