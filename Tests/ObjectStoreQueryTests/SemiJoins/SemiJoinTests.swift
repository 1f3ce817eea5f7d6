import ObjectStore
import TestSupport
import Testing

@Suite struct SemiJoinTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: World.models)
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

  @Test func `a semi-join plans the other model separately, then uses the reference index`()
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

  @Test func `a compound index that starts with the reference is used for both conditions`() throws
  {
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

  @Test func `a condition on an inverse looks up objects by primary key`() throws {
    try fill(towns: 50, people: 500)
    let plan = try explain(Query(Town.residents.anyMatch { $0.id < 3 }))
    #expect(plan.access == .primaryKeys(3))
    #expect(plan.semiJoins.map(\.field) == ["name"])
    #expect(
      plan.description.hasPrefix("primary key, 3 equal; name among 3 from Person (scan of 500")
    )
  }

  @Test func `a semi-join that matches most objects scans them`() throws {
    try fill(towns: 2_000, people: 2_000)
    let most = Person.where { $0.home.matches { $0.size >= 0 } }
    #expect(try explain(most).access == .scan)
    #expect(try explain(most).isLargeScan)
    #expect(try store.read { try $0.count(most) } == 2_000)
    let some = Person.where { $0.home.matches { $0.size < 1_000 } }
    guard case .index = try explain(some).access else {
      Issue.record("the plan uses no index")
      return
    }
    #expect(try store.read { try $0.count(some) } == 1_000)
  }

  @Test func `a semi-join without matches in the other model reads nothing`() throws {
    try fill(towns: 5, people: 10)
    let none = Person.where { $0.home.matches { $0.size > 100 } }
    #expect(try explain(none).access == .nothing)
    #expect(try explain(!none).isExact)
    #expect(try store.read { try $0.count(!none) } == 10)
    let plan = try explain(Person.where { $0.home.matches { $0.mayor.matches { $0.age == 1 } } })
    #expect(plan.access == .nothing)
    #expect(plan.semiJoins.first?.plan.semiJoins.first?.plan.model == "Person")
  }

  @Test func `a large scan of the other model is reported`() throws {
    try fill(towns: 10, people: 1_500)
    #expect(try explain(Query(Town.residents.anyMatch { $0.age == 3 })).isLargeScan)
    #expect(try !explain(Query(Town.residents.anyMatch { $0.home == Reference("3") })).isLargeScan)
  }

  // MARK: Writes

  @Test func `a semi-join inside a write sees uncommitted changes`() throws {
    try fill(towns: 3, people: 6)
    try store.write { tx in
      try tx.update(Town.self, key: "1") { $0.size = 70 }
      #expect(try tx.fetch(Person.where { $0.home.matches { $0.size > 50 } }).map(\.id) == [1, 4])
      try tx.delete(Town.self, key: "1")
      #expect(try tx.count(Person.where { $0.home.matches { $0.size > 50 } }) == 0)
      #expect(try tx.count(Person.where { !$0.home.matches { _ in .all } }) == 2)
    }
  }

  @Test func `objects can be updated and deleted by a condition across references`() throws {
    try fill(towns: 3, people: 6)
    try store.write { tx in
      let small = Person.where { $0.home.matches { $0.size == 0 } }
      let changed = try tx.update(small) { $0.age = 99 }
      let deleted = try tx.delete(Query(Town.residents.anyMatch { $0.age == 99 }))
      #expect(changed == 2 && deleted == 1)
      #expect(try tx.fetch(Town.all).map(\.name) == ["1", "2"])
    }
  }

  @Test func `a semi-join with a model that was not passed to open throws unknownModel`() throws {
    struct Unopened: Model {
      struct Columns: Sendable { let home = Column<Unopened, Reference<Town>>(position: 1) }
      static var columns: Columns { Columns() }
      static var schema: ModelSchema {
        ModelSchema(
          name: "Unopened",
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
    let unopened = Inverse(\Unopened.Columns.home)
    let error = #expect(throws: StoreError.self) {
      try store.read { try $0.count(Query(unopened.anyMatch { _ in .all })) }
    }
    #expect(error?.code == .unknownModel)
  }
}

private prefix func ! <M: Model>(query: Query<M>) -> Query<M> {
  Query(!query.filter)
}
