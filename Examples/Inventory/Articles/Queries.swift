import Foundation
import ObjectStoreModel

func conditions(_ store: Store) throws {
  let queries = [
    Book.where { $0.genre == .science && $0.year >= 1900 },
    Book.where { $0.title.hasPrefix("The ") || $0.title.contains("sea", .caseInsensitive) },
    Book.where { $0.tags.contains("classic") && !($0.price == nil) },
    Book.where { $0.year.isIn(1900...1999) },
    Book.where { $0.genre.isIn([.novel, .poetry]) },
    Book.where { $0.tags.isEmpty },
  ]
  for query in queries { _ = try store.read { try $0.count(query) } }
}

func results(_ store: Store) throws {
  let novels = Book.where { $0.genre == .novel }
  try store.read { tx in
    let list = try tx.fetch(novels.order(by: \.year, .descending).limit(10))
    let first = try tx.first(novels.order(by: \.year))
    let count = try tx.count(novels)
    let isAny = try tx.exists(novels)
    let copies = try tx.sum(novels, of: \.copies)
    let oldest = try tx.min(novels, of: \.year)
    let years = try tx.distinct(novels, \.year)
    let sections = try tx.sections(Book.all, by: \.genre)
    expect(list.count == 1 && first == list.first && count == 1 && isAny && copies == 2)
    expect(oldest == 1847 && years == [1847] && sections.map(\.count) == [1])
  }
}

func foundationPredicates(_ store: Store) throws {
  let predicate = #Predicate<Author> { $0.name.starts(with: "E") && $0.born != nil }
  let query = try Query(translating: predicate)
  let names = try store.read { try $0.fetch(query).map(\.name) }
  expect(names.allSatisfy { $0.hasPrefix("E") })
}

func pages(_ store: Store) throws {
  let query = Book.all.order(by: \.title)
  var token: PageToken?
  repeat {
    let page = try store.read { tx in try tx.page(query, size: 50, after: token) }
    show(page.objects)
    token = page.next
  } while token != nil
}

func views(_ store: Store) throws {
  let copies = try store.read { tx in
    try tx.withView(Book.self, key: "9780141439556") { view in try view.copies }
  }
  let titles = try store.read { tx in
    try tx.fetch(Book.where { $0.year < 1900 }) { view in (try view.isbn, try view.title) }
  }
  expect(copies == 2 && titles.count == 1)
}

func plans(_ store: Store) throws {
  let query = Book.where { $0.genre == .novel }.order(by: \.year).limit(10)
  let plan = try store.read { tx in try tx.explain(query) }
  expect("\(plan)" == "index (genre, year), 1 equal, ordered")
  expect(!plan.isLargeScan)
}

func columns(_ folder: String) throws {
  let store = try Store(at: folder, models: [Measurement.self])
  try store.write { tx in
    try tx.insert(
      contentsOf: (1...1_000).map { id in
        Measurement(id: id, value: Double(id % 10), note: id % 2 == 0 ? "a" : "b")
      }
    )
  }
  let query = Measurement.where { $0.value > 3 && $0.note.hasPrefix("a") }
  let plan = try store.read { tx in try tx.explain(query) }
  expect("\(plan)" == "columns (value) of 1000; tests each (cold)")
  expect(try store.read { tx in try tx.count(query) } == 300)
}

func writesByQuery(_ store: Store) throws {
  try store.write { tx in
    try tx.update(Book.where { $0.price == nil }) { $0.price = 5 }
    try tx.delete(Loan.where { $0.due < Date.now })
  }
}

func snapshots(_ store: Store) throws {
  let snapshot = try store.snapshot()
  defer { snapshot.close() }
  let authors = try snapshot.read { tx in try tx.fetch(Author.all) }
  let books = try snapshot.read { tx in try tx.fetch(Book.all) }
  expect(authors.count == 3 && books.count == 1)
}

private func show(_ books: [Book]) {}
