import Foundation
import ObjectStoreModel

func references(_ store: Store) throws {
  try store.read { tx in
    guard let book = try tx.find(Book.self, key: "9780141439556") else { return }
    let author = try tx.find(book.author)
    expect(author?.name == "Emily Jane Brontë")

    let books = try tx.fetch(Author.books(of: book.author).order(by: \.year))
    let count = try tx.count(Author.books(of: book.author))
    expect(books == [book] && count == 1)
  }
}

func conditionsOnTargets(_ store: Store) throws {
  try store.read { tx in
    let theirs = try tx.fetch(Book.where { $0.author.matches { $0.born.isIn(1810...1840) } })
    expect(theirs.map(\.isbn) == ["9780141439556"])
    let poets = try tx.fetch(Author.where { _ in Author.books.anyMatch { $0.genre == .poetry } })
    let idle = try tx.count(Author.where { $0.born > 1800 && Author.books.isEmpty })
    let written = Set(try tx.fetch(Book.all).map(\.author.key))
    let authors = try tx.fetch(Author.all)
    expect(poets.isEmpty)
    expect(idle == authors.count { ($0.born ?? 0) > 1800 && !written.contains($0.id) })
  }
}

func deletions(_ store: Store) throws {
  do {
    _ = try store.write { tx in try tx.delete(Author.self, key: 1) }
    expect(false)
  } catch let error as StoreError where error.code == .referenced {
    // A book refers to the author: remove it first, or both in one write.
  }
  let book = Reference<Book>("9780141439556")
  try store.write { tx in
    try tx.insert(Loan(id: UUID(), book: book, copy: 1, reader: "Jo", due: .now))
  }
  try store.write { tx in
    try tx.delete(Book.self, key: "9780141439556")  // Its loans go with it.
    try tx.delete(Author.self, key: 1)
  }
  let loans = try store.read { try $0.count(Loan.all) }
  expect(loans == 0)
}

func dangling(_ store: Store) throws {
  do {
    try store.write { tx in
      try tx.insert(Book(isbn: "1", title: "By nobody", author: Reference(99), year: 2000))
    }
    expect(false)
  } catch let error as StoreError where error.code == .danglingReference {
    print(error)
  }
}
