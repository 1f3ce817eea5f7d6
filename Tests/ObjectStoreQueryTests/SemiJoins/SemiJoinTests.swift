import ObjectStore
import TestSupport
import Testing

@Suite struct SemiJoinTests {
  let folder: TemporaryFolder
  let store: ObjectStore

  init() throws {
    folder = try TemporaryFolder()
    store = try ObjectStore(at: folder.path, models: World.models)
  }

  private func explain<M: Model>(_ query: Query<M>) throws -> QueryPlan {
    try store.read { try $0.explain(query) }
  }

  private func fill(towns: Int, people: Int) throws {
    try store.write(durability: .deferred) { tx in
      for number in 0..<towns {
        var town = Town("\(number)")
        town.size = number
        try tx.insert(town)
      }
      for id in 0..<people {
        var person = Person(id, home: "\(id % towns)")
        person.age = id % 10
        try tx.insert(person)
      }
    }
  }

  // MARK: Plans

  @Test func `the other model is asked by its own plan, and the index of the reference after`()
    throws
  {
    try fill(towns: 50, people: 500)
    let plan = try explain(Person.where { $0.home.matches { $0.size < 3 } })
    let join = try #require(plan.semiJoins.first)
    #expect(join.field == "home" && join.keyCount == 3 && join.plan.model == "Town")
    guard case .index(let inner) = join.plan.access, case .index(let outer) = plan.access else {
      Issue.record("\(plan)")
      return
    }
    #expect(inner.fields == ["size"] && inner.hasRange)
    #expect(outer.fields.first == "home" && outer.equalFieldCount == 1 && outer.rangeCount == 3)
    #expect(plan.isExact && plan.isOrderServed)
    #expect(plan.description.hasSuffix("; home among 3 from Town (index (size), range)"))
  }

  @Test func `a compound index that begins with the reference serves both conditions`() throws {
    try fill(towns: 50, people: 500)
    let plan = try explain(Person.where { $0.home.matches { $0.size == 3 } && $0.age == 4 })
    guard case .orderedIndex(let use) = plan.access else {
      Issue.record("\(plan)")
      return
    }
    #expect(use.fields == ["home", "age"] && use.equalFieldCount == 2)
    let ordered = try explain(
      Person.where { $0.home.matches { $0.size == 3 } }.order(by: \.age).limit(2)
    )
    #expect(ordered.isOrderServed)
  }

  @Test func `through an inverse the objects are looked up by their keys`() throws {
    try fill(towns: 50, people: 500)
    let plan = try explain(Query(Town.residents.anyMatch { $0.id < 3 }))
    #expect(plan.access == .primaryKeys(3))
    #expect(plan.semiJoins.map(\.field) == ["name"])
    #expect(
      plan.description.hasPrefix("primary key, 3 equal; name among 3 from Person (scan of 500")
    )
  }

  @Test func `when most objects are to be expected, each is looked at`() throws {
    try fill(towns: 2_000, people: 2_000)
    let most = Person.where { $0.home.matches { $0.size >= 0 } }
    #expect(try explain(most).access == .scan)
    #expect(try explain(most).isLargeScan)
    #expect(try store.read { try $0.count(most) } == 2_000)
    let some = Person.where { $0.home.matches { $0.size < 1_000 } }
    guard case .index = try explain(some).access else {
      Issue.record("no index")
      return
    }
    #expect(try store.read { try $0.count(some) } == 1_000)
  }

  @Test func `what finds nothing there reads nothing here`() throws {
    try fill(towns: 5, people: 10)
    let nobody = Person.where { $0.home.matches { $0.size > 100 } }
    #expect(try explain(nobody).access == .nothing)
    #expect(try explain(!nobody).isExact)
    #expect(try store.read { try $0.count(!nobody) } == 10)
    let plan = try explain(Person.where { $0.home.matches { $0.mayor.matches { $0.age == 1 } } })
    #expect(plan.access == .nothing)
    #expect(plan.semiJoins.first?.plan.semiJoins.first?.plan.model == "Person")
  }

  @Test func `a large scan at the other end is told`() throws {
    try fill(towns: 10, people: 1_500)
    #expect(try explain(Query(Town.residents.anyMatch { $0.age == 3 })).isLargeScan)
    #expect(try !explain(Query(Town.residents.anyMatch { $0.home == Reference("3") })).isLargeScan)
  }

  // MARK: Writes

  @Test func `a write sees across references what it has not committed`() throws {
    try fill(towns: 3, people: 6)
    try store.write { tx in
      try tx.update(Town.self, "1") { $0.size = 70 }
      #expect(try tx.fetch(Person.where { $0.home.matches { $0.size > 50 } }).map(\.id) == [1, 4])
      try tx.delete(Town.self, "1")
      #expect(try tx.count(Person.where { $0.home.matches { $0.size > 50 } }) == 0)
      #expect(try tx.count(Person.where { !$0.home.matches { _ in .all } }) == 2)
    }
  }

  @Test func `objects are changed and deleted across references`() throws {
    try fill(towns: 3, people: 6)
    try store.write { tx in
      let small = Person.where { $0.home.matches { $0.size == 0 } }
      let changed = try tx.update(small) { $0.age = 99 }
      let deleted = try tx.delete(Query(Town.residents.anyMatch { $0.age == 99 }))
      #expect(changed == 2 && deleted == 1)
      #expect(try tx.fetch(Town.all).map(\.name) == ["1", "2"])
    }
  }

  @Test func `a model with which the store was not opened is an error`() throws {
    struct Stranger: Model {
      struct Columns: Sendable { let home = Column<Stranger, Reference<Town>>(position: 1) }
      static var columns: Columns { Columns() }
      static var schema: ModelSchema {
        ModelSchema(
          name: "Stranger",
          fields: [
            FieldSchema("id", Int.self, isPrimaryKey: true),
            FieldSchema("home", Reference<Town>.self),
          ]
        )
      }
      var primaryKey: Int { 0 }
      init(from record: borrowing RecordView) throws(RecordError) {}
      func encode(to record: inout RecordEncoder) {}
    }
    let strangers = Inverse(\Stranger.Columns.home)
    let error = #expect(throws: StoreError.self) {
      try store.read { try $0.count(Query(strangers.anyMatch { _ in .all })) }
    }
    #expect(error?.code == .unknownModel)
  }
}

private prefix func ! <M: Model>(query: Query<M>) -> Query<M> {
  Query(!query.predicate)
}
