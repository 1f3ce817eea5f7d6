import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct ReferenceTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let a = Reference<City>("a")
  private static let b = Reference<City>("b")

  // MARK: Dangling references

  @Test func `each of several dangling references is checked`() throws {
    let store = try folder.open(Visit<Nullify>.self)
    for existing in ["a", "b"] {
      let error = #expect(throws: StoreError.self) {
        try store.write { tx in
          try tx.insert(Visit<Nullify>(id: 1, one: Self.a, list: [Self.b]))
          try tx.insert(City(existing))
        }
      }
      #expect(error?.code == .danglingReference)
    }
  }

  @Test func `objects that refer to each other can be inserted in any order`() throws {
    let store = try folder.open(Node.self)
    try store.write { tx in
      try tx.insert(Node(id: 1, parent: 2))
      try tx.insert(Node(id: 2, parent: 1))
    }
    #expect(try store.read { try $0.count(Node.all) } == 2)
  }

  @Test func `a dangling reference throws danglingReference at the end of the write`() throws {
    let store = try folder.open(House<Deny>.self, Visit<Nullify>.self)
    let error = try #require(throws: StoreError.self) {
      try store.write { tx in try tx.insert(House<Deny>(id: 7, city: Reference("gone"))) }
    }
    #expect(error.code == .danglingReference)
    #expect(error.message.hasPrefix("House deny 7 refers in city to City 'gone', which does not"))
    for visit in [
      Visit<Nullify>(id: 1, one: Self.a), Visit(id: 1, list: [Self.b, Self.a]),
      Visit(id: 1, set: [Self.a]),
    ] {
      let error = #expect(throws: StoreError.self) {
        try store.write { tx in
          try tx.insert(City("b"))
          try tx.insert(visit)
        }
      }
      #expect(error?.code == .danglingReference)
    }
    #expect(try store.read { try $0.count(City.all) + $0.count(House<Deny>.all) } == 0)
  }

  @Test func `an update to a dangling reference throws`() throws {
    let store = try folder.open(House<Deny>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(House<Deny>(id: 1, city: Self.a))
    }
    #expect(throws: StoreError.self) {
      try store.write { tx in _ = try tx.update(House<Deny>.self, key: 1) { $0.city = Self.b } }
    }
    try store.write { tx in
      _ = try tx.update(House<Deny>.self, key: 1) { $0.city = Self.b }
      _ = try tx.delete(City.self, key: "a")
      try tx.insert(City("b"))
    }
    #expect(try store.read { try $0.find(House<Deny>.self, key: 1)?.city } == Self.b)
  }

  @Test func `a dangling reference that is fixed before the end of the write is accepted`() throws {
    let store = try folder.open(House<Deny>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(House<Deny>(id: 1, city: Self.b))
      try tx.insert(House<Deny>(id: 2, city: Self.b))
      _ = try tx.update(House<Deny>.self, key: 1) { $0.city = Self.a }
      _ = try tx.delete(House<Deny>.self, key: 2)
    }
    #expect(try store.read { try $0.fetch(House<Deny>.all).map(\.city) } == [Self.a])
  }

  @Test func `a keep reference may dangle`() throws {
    let store = try folder.open(Visit<Keep>.self)
    try store.write { tx in try tx.insert(Visit<Keep>(id: 1, one: Self.a, list: [Self.b])) }
    try store.read { tx throws in
      let visit = try #require(try tx.find(Visit<Keep>.self, key: 1))
      #expect(try visit.one.flatMap { try tx.find($0) } == nil)
      #expect(try tx.fetch(visit.list) == [])
    }
  }

  @Test func `references of a rolled-back nested write are not checked`() throws {
    struct Stop: Error {}
    let store = try folder.open(House<Deny>.self)
    try store.write { tx in
      #expect(throws: Stop.self) {
        try tx.nested { inner in
          try inner.insert(House<Deny>(id: 1, city: Self.a))
          throw Stop()
        }
      }
      let error = #expect(throws: StoreError.self) {
        try tx.nested { inner in try inner.insert(House<Deny>(id: 2, city: Self.a)) }
      }
      #expect(error?.code == .danglingReference)
      try tx.insert(House<Deny>(id: 3, city: Self.b))
      try tx.nested { inner in try inner.insert(City("b")) }
    }
    #expect(try store.read { try $0.fetch(House<Deny>.all).map(\.id) } == [3])
  }

  @Test func `rolling back a nested write restores deleted objects and references`() throws {
    struct Stop: Error {}
    let store = try folder.open(House<Cascade>.self, Visit<Nullify>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
      try tx.insert(Visit<Nullify>(id: 1, one: Self.a, set: [Self.a]))
      #expect(throws: Stop.self) {
        try tx.nested { inner in
          _ = try inner.delete(City.self, key: "a")
          throw Stop()
        }
      }
    }
    try store.read { tx throws in
      #expect(try tx.count(House<Cascade>.all) == 1)
      #expect(
        try tx.find(Visit<Nullify>.self, key: 1) == Visit(id: 1, one: Self.a, set: [Self.a])
      )
    }
  }

  @Test func `a reference made before a nested write is checked at the end of the outer write`()
    throws
  {
    let store = try folder.open(House<Deny>.self)
    for stage in 0..<3 {
      let result = Result {
        try store.write { tx in
          try tx.insert(House<Deny>(id: stage, city: Reference("city \(stage)")))
          try tx.nested { inner in
            try inner.insert(City("other \(stage)"))
            if stage == 1 { try inner.insert(City("city 1")) }
          }
          if stage == 2 { try tx.insert(City("city 2")) }
        }
      }
      switch result {
      case .success: #expect(stage > 0)
      case .failure(let error):
        #expect((error as? StoreError)?.code == .danglingReference && stage == 0)
      }
    }
    #expect(try store.read { try $0.count(Query<House<Deny>>()) } == 2)
  }

  // MARK: Reading

  @Test func `fetching references returns objects in reference order`() throws {
    let store = try folder.open(Visit<Nullify>.self)
    try store.write { tx in
      for name in ["a", "b", "c"] { try tx.insert(City(name)) }
      try tx.insert(Visit<Nullify>(id: 1, one: Self.b, list: [Self.b, Self.a, Self.b]))
    }
    try store.read { tx throws in
      let visit = try #require(try tx.find(Visit<Nullify>.self, key: 1))
      #expect(try visit.one.flatMap { try tx.find($0) } == City("b"))
      #expect(try tx.fetch(visit.list).map(\.name) == ["b", "a", "b"])
      #expect(try tx.fetch([Reference<City>]()).isEmpty)
    }
  }

  @Test func `an inverse query finds the referring objects by index`() throws {
    let one = Inverse(\Visit<Nullify>.Columns.one)
    let list = Inverse(\Visit<Nullify>.Columns.list)
    let set = Inverse(\Visit<Nullify>.Columns.set)
    let house = Inverse(\House<Deny>.Columns.city)
    let store = try folder.open(Visit<Nullify>.self, House<Deny>.self)
    let city = City("a")
    try store.write { tx in
      try tx.insert(city)
      try tx.insert(City("b"))
      try tx.insert(Visit<Nullify>(id: 1, one: Self.a))
      try tx.insert(Visit<Nullify>(id: 2, list: [Self.b, Self.a]))
      try tx.insert(Visit<Nullify>(id: 3, set: [Self.a, Self.b]))
      try tx.insert(House<Deny>(id: 4, city: Self.a))
      try tx.insert(House<Deny>(id: 5, city: Self.b))
    }
    try store.read { tx throws in
      #expect(try tx.referrers(to: city, one).map(\.id) == [1])
      #expect(try tx.referrers(to: city, list).map(\.id) == [2])
      #expect(try tx.referrers(to: city, set).map(\.id) == [3])
      #expect(try tx.fetch(house(of: Self.a)).map(\.id) == [4])
      for query in [one(of: city), list(of: city), set(of: city)] {
        #expect((try tx.explain(query)).description.contains("index ("))
      }
      let houses = House<Deny>.where { $0.city.refers(to: city) }
      #expect(try tx.fetch(houses).map(\.id) == [4])
      let visits = [
        Visit<Nullify>.where { $0.one.refers(to: city) },
        Visit.where { $0.list.refers(to: city) },
        Visit.where { $0.set.refers(to: city) },
      ]
      #expect(try visits.map { try tx.fetch($0).map(\.id) } == [[1], [2], [3]])
    }
  }

  @Test func `a reference is encoded as its key`() throws {
    let data = try JSONEncoder().encode(["city": Self.a])
    #expect(String(decoding: data, as: UTF8.self) == #"{"city":"a"}"#)
    #expect(try JSONDecoder().decode([String: Reference<City>].self, from: data)["city"] == Self.a)
    #expect(Self.a.description == "City a")
    #expect(Self.a.storedBytes == "a".storedBytes)
  }
}
