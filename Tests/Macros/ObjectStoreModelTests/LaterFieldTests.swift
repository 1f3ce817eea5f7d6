import Foundation
import ObjectStoreModel
import Testing

/// Tests fields that were added to a model after its records were written.
@Suite struct LaterFieldTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "LaterFieldTests-\(UUID().uuidString)").path

  private func open(_ model: any Model.Type) throws -> Store {
    try Store(at: folder, models: [model])
  }

  @Test func `a field that was added later is read as its default`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try open(BareParcel.self).write { tx in try tx.insert(BareParcel(id: 1)) }
    let store = try open(Parcel.self)
    let found = try store.read { try $0.find(Parcel.self, key: 1) }
    #expect(found == Parcel(id: 1, from: nil))
    #expect(found?.weight == 1.25 && found?.to.street == "here" && found?.from == nil)
    try store.write { tx in
      let heavy = Parcel.where { $0.weight > 1 }
      let count = try tx.count(heavy)
      #expect(count == 1)
      _ = try tx.update(Parcel.self, key: 1) { $0.note = "written" }
      let countAfter = try tx.count(heavy)
      #expect(countAfter == 1)
    }
  }

  @Test func `nil in a field that is no longer optional is read as its default`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try open(VagueParcel.self).write { tx in
      try tx.insert(VagueParcel(id: 1))
      try tx.insert(VagueParcel(id: 2, weight: 3, to: Place(street: "there"), tags: ["a"]))
    }
    let found = try open(Parcel.self).read { tx in
      try [1, 2].map { try tx.find(Parcel.self, key: $0) }
    }
    #expect(found[0] == Parcel(id: 1))
    #expect(found[1] == Parcel(id: 2, weight: 3, to: Place(street: "there"), tags: ["a"]))
  }

  @Test func `the parts of a compound key can be renamed, but not reordered`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try open(RowThenColumn.self).write { tx in try tx.insert(RowThenColumn(row: 1, column: 2)) }
    let error = #expect(throws: StoreError.self) { try open(ColumnThenRow.self) }
    #expect(error?.code == .schemaMismatch)
    let found = try open(Renamed.self).read { tx in
      try tx.find(Renamed.self, key: .init(line: 1, column: 2))
    }
    #expect(found == Renamed(line: 1, column: 2))
  }
}

@Embedded
private struct Place: Equatable {
  var street: String
}

@Model(name: "Parcel")
private struct BareParcel {
  @PrimaryKey var id: Int
}

@Model(name: "Parcel")
private struct VagueParcel {
  @PrimaryKey var id: Int
  var weight: Decimal?
  var to: Place?
  var tags: [String]?
}

@Model(name: "Parcel")
private struct Parcel: Equatable {
  @PrimaryKey var id: Int
  @Indexed var weight: Decimal = 1.25
  var to: Place = Place(street: "here")
  var tags: [String] = []
  var from: URL?
  var sender: Reference<Parcel>?
  var parts: [Reference<Parcel>] = []
  var note: String = ""
}

@Model(name: "Cell")
private struct RowThenColumn {
  @PrimaryKey var row: Int
  @PrimaryKey var column: Int
}

@Model(name: "Cell")
private struct ColumnThenRow {
  @PrimaryKey var column: Int
  @PrimaryKey var row: Int
}

@Model(name: "Cell")
private struct Renamed: Equatable {
  @PrimaryKey @Field(renamedFrom: "row") var line: Int
  @PrimaryKey var column: Int
}
