import Foundation
import ObjectStoreModel

func gettingStarted(_ folder: String) throws -> Store {
  let store = try Store(at: folder, models: [Author.self, Book.self, Loan.self])
  try store.write { tx in
    try tx.insert(Author(id: 1, name: "Emily Brontë", born: 1818))
    try tx.insert(
      Book(isbn: "9780141439556", title: "Wuthering Heights", author: Reference(1), year: 1847)
    )
  }
  let book = try store.read { tx in try tx.find(Book.self, key: "9780141439556") }
  expect(book?.title == "Wuthering Heights")

  try store.write { tx in
    try tx.update(Book.self, key: "9780141439556") { $0.copies += 1 }
    try tx.upsert(Author(id: 1, name: "Emily Jane Brontë", born: 1818))
  }
  let old = try store.read { tx in
    try tx.fetch(Book.where { $0.year < 1900 }.order(by: \.title).limit(20))
  }
  expect(old.map(\.copies) == [2])
  return store
}

func asynchronous(_ store: Store) async throws {
  let isAdded = try await store.write { tx in
    try tx.upsert(Author(id: 2, name: "Ada Lovelace", born: 1815))
  }
  expect(isAdded)
}

func errors(_ store: Store) throws {
  do {
    try store.write { tx in try tx.insert(Author(id: 1, name: "Somebody else")) }
    expect(false)
  } catch let error as StoreError where error.code == .duplicateKey {
    print(error)
  }
}

func nested(_ store: Store) throws {
  try store.write { tx in
    try tx.insert(Author(id: 3, name: "Charlotte Brontë"))
    do {
      try tx.nested { tx in
        try tx.insert(Author(id: 4, name: "Anne Brontë"))
        try tx.insert(Author(id: 3, name: "Currer Bell"))
      }
    } catch let error as StoreError where error.code == .duplicateKey {
      // Charlotte stays; neither of the two others was added.
    }
  }
  let ids = try store.read { try $0.fetch(Author.all).map(\.id) }
  expect(ids == [1, 2, 3])
}
