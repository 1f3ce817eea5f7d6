import Foundation
import ObjectStoreModel
import Testing

@Suite struct CinemaTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "CinemaTests-\(UUID().uuidString)").path
  private let hall = Cinema.Hall(
    name: "One",
    address: Cinema.Address(street: "Road 1", city: nil, floors: [1, 2]),
    entrances: [Cinema.Address(street: "Lane 2")],
    prices: [.box: 12.75, .stalls: 8],
    site: URL(string: "https://example.com/one")
  )
  private let one = Reference<Cinema.Hall>("One")

  private func withStore(_ body: (Store) throws -> Void) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try Store(at: folder, models: [Cinema.Seat.self, Film.self])
    try body(store)
  }

  @Test func `embedded values, decimals, URLs and JSON values round-trip`() throws {
    try withStore { store in
      let film = Film(title: "F", options: Options(isLoud: true, names: ["a": [1]]))
      try store.write { tx in
        try tx.insert(hall)
        try tx.insert(film)
      }
      let found = try store.read { try $0.find(one) }
      #expect(found == hall)
      let foundFilm = try store.read { try $0.find(Film.self, key: "F") }
      #expect(foundFilm == film)
    }
  }

  @Test func `a compound key finds its object`() throws {
    try withStore { store in
      let seats = (1...3).map { Cinema.Seat(hall: one, number: $0, label: "A\($0)") }
      try store.write { tx in
        try tx.insert(hall)
        for seat in seats { try tx.insert(seat) }
        let isAdded = try tx.upsert(seats[0])
        #expect(!isAdded)
      }
      let key = Cinema.Seat.PrimaryKey(hall: one, number: 2)
      let found = try store.read { tx in
        let bySelf = try tx.fetch(Cinema.Seat.where { $0.primaryKey == key })
        #expect(bySelf == [seats[1]])
        return try tx.find(Cinema.Seat.self, key: key)
      }
      #expect(found == seats[1] && found?.primaryKey == key)
      #expect(throws: StoreError.self) {
        try store.write { tx in
          _ = try tx.update(Cinema.Seat.self, key: key) { $0.number = 9 }
        }
      }
      let error = #expect(throws: StoreError.self) {
        try store.write { tx in
          _ = try tx.edit(Cinema.Seat.self, key: key) { $0.set(\.number, to: 9) }
        }
      }
      #expect(error?.code == .keyChanged)
      try store.write { tx in
        _ = try tx.edit(Cinema.Seat.self, key: key) { $0.set(\.label, to: "B") }
      }
      let label = try store.read { try $0.find(Cinema.Seat.self, key: key)?.label }
      #expect(label == "B")
    }
  }

  @Test func `a Foundation predicate works with a macro-generated model`() throws {
    try withStore { store in
      let seats = (1...3).map { Cinema.Seat(hall: one, number: $0, label: "A\($0)") }
      try store.write { tx in
        try tx.insert(hall)
        for seat in seats { try tx.insert(seat) }
      }
      let query = try Query(
        translating: #Predicate<Cinema.Seat> { $0.number > 1 && $0.label.starts(with: "A") }
      )
      #expect(try store.read { try $0.fetch(query) } == Array(seats[1...]))
      #expect(Cinema.Seat.fieldPosition(of: \.primaryKey) == Cinema.Seat.schema.fields.count - 1)
      #expect(Cinema.Seat.fieldPosition(of: \.label.count) == nil)
    }
  }

  @Test func `single and compound unique indexes refuse duplicates`() throws {
    try withStore { store in
      try store.write { tx in
        try tx.insert(hall)
        try tx.insert(Cinema.Seat(hall: one, number: 1, label: "A", ticket: 5))
        try tx.insert(Cinema.Seat(hall: one, number: 2, label: "B", ticket: nil))
        try tx.insert(Cinema.Seat(hall: one, number: 3, label: "C", ticket: nil))
      }
      for seat in [
        Cinema.Seat(hall: one, number: 4, label: "A", ticket: nil),
        Cinema.Seat(hall: one, number: 4, label: "D", ticket: 5),
      ] {
        let error = #expect(throws: StoreError.self) {
          try store.write { tx in try tx.insert(seat) }
        }
        #expect(error?.code == .duplicateKey)
      }
    }
  }

  @Test func `references to objects with compound keys follow their delete rules`() throws {
    try withStore { store in
      var first = Cinema.Seat(hall: one, number: 1, label: "A")
      var second = Cinema.Seat(hall: one, number: 2, label: "B")
      first.neighbours = [Reference(to: second)]
      second.link = Reference(to: first)
      try store.write { tx in
        try tx.insert(first)
        try tx.insert(second)
        try tx.insert(hall)
      }
      try store.write { tx in _ = try tx.delete(Cinema.Seat.self, key: second.primaryKey) }
      first.neighbours = []
      try store.write { tx in
        let seats = try tx.fetch(Cinema.Hall.seats(of: hall))
        #expect(seats == [first])
        _ = try tx.delete(Cinema.Hall.self, key: "One")
        let count = try tx.count(Cinema.Seat.all)
        #expect(count == 0)
      }
    }
  }
}
