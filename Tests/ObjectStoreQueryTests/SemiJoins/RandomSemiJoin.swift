import ObjectStore
import TestSupport

/// A random condition across references, as a store filter and as a Swift closure.
struct RelatedCondition<M: Model> {
  var text: String
  var filter: Filter<M>
  var test: (World, M) -> Bool

  init(
    _ text: String,
    _ filter: Filter<M>,
    _ test: @escaping (World, M) -> Bool
  ) {
    self.text = text
    self.filter = filter
    self.test = test
  }

  /// Returns a composed or a single condition.
  fileprivate static func compose(
    _ random: inout SplitMix64,
    _ depth: Int,
    _ make: (inout SplitMix64) -> RelatedCondition
  ) -> RelatedCondition {
    guard depth > 0 else { return make(&random) }
    let left = make(&random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let right = make(&random)
      return RelatedCondition("(\(left.text) && \(right.text))", left.filter && right.filter) {
        left.test($0, $1) && right.test($0, $1)
      }
    case 1:
      let right = make(&random)
      return RelatedCondition("(\(left.text) || \(right.text))", left.filter || right.filter) {
        left.test($0, $1) || right.test($0, $1)
      }
    case 2: return RelatedCondition("!(\(left.text))", !left.filter) { !left.test($0, $1) }
    default: return left
    }
  }
}

extension RelatedCondition<Person> {
  /// Returns a condition with a chain of at most `depth` references.
  static func person(_ random: inout SplitMix64, depth: Int) -> RelatedCondition {
    compose(&random, depth) { random in
      guard depth > 0, random.chance(85) else { return plainPerson(&random) }
      return random.chance(75)
        ? forward(&random, depth: depth - 1) : backward(&random, depth: depth - 1)
    }
  }

  private static func plainPerson(_ random: inout SplitMix64) -> RelatedCondition {
    let column = Person.columns
    let age = Int.random(in: 0..<6, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return RelatedCondition("age < \(age)", column.age < age) { $1.age < age }
    case 1: return RelatedCondition("age == \(age)", column.age == age) { $1.age == age }
    case 2: return RelatedCondition("id == \(age)", column.id == age) { $1.id == age }
    case 3:
      return RelatedCondition("id in \([age, 7, 9])", column.id.isIn([age, 7, 9])) {
        [age, 7, 9].contains($1.id)
      }
    default: return RelatedCondition("all", .all) { _, _ in true }
    }
  }

  private static func forward(_ random: inout SplitMix64, depth: Int) -> RelatedCondition {
    let column = Person.columns
    switch Int.random(in: 0..<7, using: &random) {
    case 0:
      let boss = person(&random, depth: depth)
      return RelatedCondition(
        "boss(\(boss.text))",
        column.boss.matches { _ in boss.filter }
      ) { world, person in
        world.person(person.boss).map { boss.test(world, $0) } ?? false
      }
    case 1:
      let home = RelatedCondition<Town>.town(&random, depth: depth)
      return RelatedCondition(
        "home(\(home.text))",
        column.home.matches { _ in home.filter }
      ) { world, person in
        world.town(person.home).map { home.test(world, $0) } ?? false
      }
    case 2:
      let lap = RelatedCondition<Lap>.lap(&random, depth: depth)
      return RelatedCondition(
        "lap(\(lap.text))",
        column.lap.matches { _ in lap.filter }
      ) { world, person in
        world.lap(person.lap).map { lap.test(world, $0) } ?? false
      }
    case 3:
      let town = RelatedCondition<Town>.town(&random, depth: depth)
      return RelatedCondition(
        "any visited(\(town.text))",
        column.visited.anyMatch { _ in town.filter }
      ) { world, person in
        person.visited.compactMap { world.town($0) }.contains { town.test(world, $0) }
      }
    case 4:
      let town = RelatedCondition<Town>.town(&random, depth: depth)
      return RelatedCondition(
        "all visited(\(town.text))",
        column.visited.allMatch { _ in town.filter }
      ) { world, person in
        person.visited.compactMap { world.town($0) }.allSatisfy { town.test(world, $0) }
      }
    case 5:
      let town = RelatedCondition<Town>.town(&random, depth: depth)
      return RelatedCondition(
        "none loved(\(town.text))",
        column.loved.noneMatch { _ in town.filter }
      ) { world, person in
        !person.loved.compactMap { world.town($0) }.contains { town.test(world, $0) }
      }
    default:
      let town = RelatedCondition<Town>.town(&random, depth: depth)
      let name = random.element(World.names)
      return RelatedCondition(
        "any loved(\(town.text) or \(name.count))",
        column.loved.any { $0.matches { _ in town.filter } || $0 == Reference(name) }
      ) { world, person in
        person.loved.contains { reference in
          reference.key == name || world.town(reference).map { town.test(world, $0) } ?? false
        }
      }
    }
  }

  private static func backward(_ random: inout SplitMix64, depth: Int) -> RelatedCondition {
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      let report = person(&random, depth: depth)
      return RelatedCondition(
        "any report(\(report.text))",
        Person.reports.anyMatch { _ in report.filter }
      ) { world, person in
        world.people.contains { $0.boss?.key == person.id && report.test(world, $0) }
      }
    case 1:
      let town = RelatedCondition<Town>.town(&random, depth: depth)
      return RelatedCondition(
        "all governs(\(town.text))",
        Person.governs.allMatch { _ in town.filter }
      ) { world, person in
        world.towns.allSatisfy { $0.mayor?.key != person.id || town.test(world, $0) }
      }
    default:
      return RelatedCondition("no reports", Person.reports.isEmpty) { world, person in
        !world.people.contains { $0.boss?.key == person.id }
      }
    }
  }
}

extension RelatedCondition<Town> {
  static func town(_ random: inout SplitMix64, depth: Int) -> RelatedCondition {
    compose(&random, depth) { random in
      let column = Town.columns
      let size = Int.random(in: 0..<6, using: &random)
      let name = random.element(World.names)
      guard depth > 0, random.chance(85) else {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return RelatedCondition("size >= \(size)", column.size >= size) { $1.size >= size }
        case 1: return RelatedCondition("size == \(size)", column.size == size) { $1.size == size }
        case 2:
          return RelatedCondition("name \(name.count)", column.name == name) { $1.name == name }
        default: return RelatedCondition("all", .all) { _, _ in true }
        }
      }
      return related(&random, depth: depth - 1)
    }
  }

  private static func related(_ random: inout SplitMix64, depth: Int) -> RelatedCondition {
    let column = Town.columns
    let person = RelatedCondition<Person>.person(&random, depth: depth)
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      return RelatedCondition(
        "mayor(\(person.text))",
        column.mayor.matches { _ in person.filter }
      ) { world, town in
        world.person(town.mayor).map { person.test(world, $0) } ?? false
      }
    case 1:
      let twin = town(&random, depth: depth)
      return RelatedCondition(
        "any twin(\(twin.text))",
        column.twins.anyMatch { _ in twin.filter }
      ) { world, town in
        town.twins.compactMap { world.town($0) }.contains { twin.test(world, $0) }
      }
    case 2:
      return RelatedCondition(
        "any resident(\(person.text))",
        Town.residents.anyMatch { _ in person.filter }
      ) { world, town in
        world.people.contains { $0.home.key == town.name && person.test(world, $0) }
      }
    case 3:
      return RelatedCondition(
        "none guest(\(person.text))",
        Town.guests.noneMatch { _ in person.filter }
      ) { world, town in
        !world.people.contains { other in
          other.visited.contains(Reference(to: town)) && person.test(world, other)
        }
      }
    case 4:
      return RelatedCondition(
        "all fans(\(person.text))",
        Town.fans.allMatch { _ in person.filter }
      ) { world, town in
        world.people.allSatisfy { other in
          !other.loved.contains(Reference(to: town)) || person.test(world, other)
        }
      }
    default:
      let twin = town(&random, depth: depth)
      return RelatedCondition(
        "any twin of(\(twin.text))",
        Town.twinOf.anyMatch { _ in twin.filter }
      ) { world, town in
        world.towns.contains { $0.twins.contains(Reference(to: town)) && twin.test(world, $0) }
      }
    }
  }
}

extension RelatedCondition<Lap> {
  static func lap(_ random: inout SplitMix64, depth: Int) -> RelatedCondition {
    let column = Lap.columns
    let rank = Int.random(in: 0..<6, using: &random)
    let time = random.element(World.times)
    guard depth > 0 else {
      return random.chance(50)
        ? RelatedCondition("rank <= \(rank)", column.rank <= rank) { $1.rank <= rank }
        : RelatedCondition("time == \(time)", column.time == time) { $1.time == time }
    }
    let runner = RelatedCondition<Person>.person(&random, depth: depth - 1)
    return RelatedCondition(
      "any runner(\(runner.text))",
      Lap.runners.anyMatch { _ in runner.filter }
    ) { world, lap in
      world.people.contains { person in
        person.lap?.key.bitPattern == lap.time.bitPattern && runner.test(world, person)
      }
    }
  }
}
