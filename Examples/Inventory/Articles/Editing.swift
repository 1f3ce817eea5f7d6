import ObjectStoreModel

func editing(_ store: Store) throws {
  guard let original = try store.read({ tx in try tx.find(Author.self, key: 1) }) else { return }
  var edited = original
  edited.born = 1817
  try store.write { tx in try tx.update(Author.self, key: 1) { $0.name = "Ellis Bell" } }
  var conflict: UpdateConflict?
  do {
    try store.write { tx in try tx.update(original, to: edited) }
  } catch let error as StoreError where error.code == .conflict {
    print(error)
    conflict = error.cause as? UpdateConflict
  }
  expect(conflict?.fields == ["name"])

  try store.write { tx in try tx.update(original, to: edited, checking: [\.born]) }
  guard let merged = try store.read({ tx in try tx.find(Author.self, key: 1) }) else { return }
  expect(merged.name == "Ellis Bell" && merged.born == 1817)

  try store.write { tx in
    if try tx.changedFields(since: edited)?.isEmpty == true {
      try tx.delete(Author.self, key: edited.id)
    }
  }
  try store.write { tx in try tx.update(merged, to: original) }
  let last = try store.read { try $0.find(Author.self, key: 1) }
  expect(last == original)
}
