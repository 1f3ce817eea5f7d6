import ObjectStore
import TestSupport

/// The expected objects of the store, in insertion order.
struct World {
  var people: [Person] = []
  var towns: [Town] = []
  var laps: [Lap] = []

  static let names =
    ["", "a", "b", "bern", "basel"]
    + [439, 440, 441].flatMap { count in
      ["x", "y"].map { String(repeating: "k", count: count) + $0 }
    }
  static let times: [Double] = [0, -0.0, 1, -1, 59.5, .infinity]
  static let models: [any Model.Type] = [Person.self, Town.self, Lap.self]

  func person(_ reference: Reference<Person>?) -> Person? {
    people.first { $0.id == reference?.key }
  }

  func town(_ reference: Reference<Town>) -> Town? {
    towns.first { $0.name == reference.key }
  }

  /// Keys are compared by their bytes, so 0 and -0 are different.
  func lap(_ reference: Reference<Lap>?) -> Lap? {
    laps.first { $0.time.bitPattern == reference?.key.bitPattern }
  }

  // MARK: Changes

  /// Makes one random change to the world and to the store.
  mutating func change(
    in tx: inout StoreTransaction,
    _ random: inout SplitMix64
  ) throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<4: try putPerson(in: &tx, &random)
    case 4..<6: try putTown(in: &tx, &random)
    case 6: try putLap(in: &tx, &random)
    case 7 where !people.isEmpty:
      let index = Int.random(in: people.indices, using: &random)
      people[index].age = Int.random(in: 0..<6, using: &random)
      let age = people[index].age
      try tx.update(Person.self, key: people[index].id) { $0.age = age }
    case 8 where !towns.isEmpty:
      let town = towns.remove(at: Int.random(in: towns.indices, using: &random))
      try tx.delete(Town.self, key: town.name)
    case 9 where !people.isEmpty:
      let person = people.remove(at: Int.random(in: people.indices, using: &random))
      try tx.delete(Person.self, key: person.id)
    default: break
    }
  }

  private mutating func putPerson(
    in tx: inout StoreTransaction,
    _ random: inout SplitMix64
  ) throws {
    var person = Person(Int.random(in: 0..<25, using: &random), home: random.element(Self.names))
    person.age = Int.random(in: 0..<6, using: &random)
    // The boss may be the person itself or a missing object.
    if random.chance(70) { person.boss = Reference(Int.random(in: 0..<30, using: &random)) }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      person.visited.append(Reference(random.element(Self.names)))
      person.loved.insert(Reference(random.element(Self.names)))
    }
    if random.chance(60) { person.lap = Reference(random.element(Self.times)) }
    try tx.upsert(person)
    if let index = people.firstIndex(where: { $0.id == person.id }) {
      people[index] = person
    } else {
      people.append(person)
    }
  }

  private mutating func putTown(in tx: inout StoreTransaction, _ random: inout SplitMix64) throws {
    var town = Town(random.element(Self.names))
    town.size = Int.random(in: 0..<6, using: &random)
    if random.chance(60) { town.mayor = Reference(Int.random(in: 0..<30, using: &random)) }
    if random.chance(50) { town.twins.insert(Reference(random.element(Self.names))) }
    try tx.upsert(town)
    if let index = towns.firstIndex(where: { $0.name == town.name }) {
      towns[index] = town
    } else {
      towns.append(town)
    }
  }

  private mutating func putLap(in tx: inout StoreTransaction, _ random: inout SplitMix64) throws {
    var lap = Lap(random.element(Self.times))
    lap.rank = Int.random(in: 0..<6, using: &random)
    try tx.upsert(lap)
    if let index = laps.firstIndex(where: { $0.time.bitPattern == lap.time.bitPattern }) {
      laps[index] = lap
    } else {
      laps.append(lap)
    }
  }
}
