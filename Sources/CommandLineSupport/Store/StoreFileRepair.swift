package import ObjectStore

/// The way to repair the problems of a store's file.
package enum RepairPlan: Sendable, Hashable {
  /// There is nothing that a repair of the file could change.
  case nothing
  /// Only indexes are damaged; they are rebuilt from the records.
  case rebuildIndexes
  /// Every readable object is copied into a new file.
  case salvage

  /// Chooses the least change that repairs problems of these kinds.
  ///
  /// Two objects with the same values in a unique index, and references to missing objects, are
  /// left to the user: a repair would have to delete an object or change a value.
  package init(for kinds: some Sequence<VerificationReport.Problem.Kind>) {
    var plan = RepairPlan.nothing
    for kind in kinds {
      switch kind {
      case .format, .page, .description, .record, .hotPart, .primaryKey, .history:
        plan = .salvage
      case .index where plan == .nothing, .column where plan == .nothing: plan = .rebuildIndexes
      case .index, .column, .uniqueness, .reference: break
      }
    }
    self = plan
  }
}

/// The repairs of a store's file, and what they did.
package struct StoreFileRepair {
  /// The absolute path of the store's folder.
  package let path: String
  /// The models of the program that repairs the store.
  private let models: [any Model.Type]
  /// The schema version of that program.
  private let schemaVersion: UInt32?
  /// The number of entries of the rebuilt indexes; `nil` if none were rebuilt.
  package private(set) var indexEntries: Int?
  /// The result of copying the objects into a new file; `nil` if that was not necessary.
  package private(set) var salvage: (report: RepairReport, damagedFile: String?)?
  /// The failed repairs, each with its reason.
  package var failures: [String] = []

  /// Creates a repair that has done nothing.
  package init(path: String, models: [any Model.Type] = [], schemaVersion: UInt32? = nil) {
    self.path = path
    self.models = models
    self.schemaVersion = schemaVersion
  }

  /// Repairs what was found.
  ///
  /// - Throws: ``CommandFailure`` with `failed` if another process has the store open;
  ///   ``StoreError``. A repair that was completed before stays.
  package mutating func run(_ plan: RepairPlan, _ status: StatusLine) throws {
    switch plan {
    case .nothing: break
    case .rebuildIndexes:
      status.show("rebuilding the indexes")
      try rebuildIndexes()
    case .salvage:
      status.show("copying the readable objects into a new file")
      let (report, damagedFile) = try saving {
        try ClosedStore.perform(path) {
          try Store.repairInPlace(at: path, models: models, schemaVersion: schemaVersion)
        }
      }
      salvage = (report, damagedFile)
    }
  }

  /// Copies every readable object into a new folder, and leaves the store as it is.
  ///
  /// - Throws: ``StoreError``.
  package mutating func save(into target: String, _ status: StatusLine) throws {
    status.show("copying the readable objects into a new store")
    try StoreCopy.writing(target) {
      let report = try saving {
        try Store.repair(at: path, into: target, models: models, schemaVersion: schemaVersion)
      }
      salvage = (report, nil)
    }
  }

  /// Runs a repair, and says what is left to do if nothing can be saved.
  private func saving<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as StoreError where error.code == .damaged {
      throw CommandFailure(
        .damaged,
        "\(error.plainDescription): nothing can be saved, and the file was not changed; restore a "
          + "backup, or move \(path)/data.mdb away to begin with an empty store"
      )
    }
  }

  private mutating func rebuildIndexes() throws {
    do {
      indexEntries = try Store.rebuildIndexes(at: path)
    } catch let error as StoreError where error.code == .duplicateKey {
      failures.append("\(error): change or delete one of the objects")
    }
  }

  /// Whether objects of a model were lost, and none of them was saved.
  package var hasLostAll: Bool {
    salvage?.report.models.values.contains { $0.saved == 0 && $0.lostCount != 0 } == true
  }

  // MARK: Output

  /// One line for each repair and loss.
  package var lines: [String] {
    var lines: [String] = []
    if let entries = indexEntries {
      lines.append("repaired: rebuilt the indexes, \(entries) entries")
    }
    guard let (report, damagedFile) = salvage else { return lines }
    let saved = report.models.values.reduce(0) { $0 + $1.saved }
    lines.append(
      hasLostAll && saved == 0
        ? "no object could be saved: restore a backup"
        : "repaired: copied \(Self.objects(saved)) into a new file"
    )
    if let damagedFile {
      lines.append("the old file is \(damagedFile); delete it when nothing is missing")
    }
    for (name, model) in report.models.sorted(by: { $0.key < $1.key }) {
      lines += Self.losses(of: name, model)
      if !model.withoutHotFields.isEmpty {
        let count = model.withoutHotFields.count
        lines.append("lost: the hot fields of \(Self.objects(count)) of \(name)")
      }
    }
    lines += report.skippedObjects.map { skipped in
      "lost: object \(skipped.object.id) of \(skipped.object.model): \(skipped.reason)"
    }
    return lines + report.notes.map { "note: \($0)" }
  }

  /// The lines about the objects of a model that are gone, and about ids without an object.
  private static func losses(of name: String, _ model: RepairReport.ModelReport) -> [String] {
    let ids = model.lost.count
    switch model.lostCount {
    case 0 where ids > 0:
      return ["note: no object of \(name) is lost; \(ids) damaged ids have no object"]
    case 0: return []
    case let count?: return ["lost: \(objects(count)) of \(name)"]
    case nil:
      return ["lost: an unknown number of objects of \(name); \(ids) ids have no object"]
    }
  }

  private static func objects(_ count: Int) -> String {
    "\(count) \(count == 1 ? "object" : "objects")"
  }

  /// One line for each failed repair.
  package var failureLines: [String] { failures.map { "not repaired: \($0)" } }

  /// A JSON object, with `additions` before the failures.
  package func json(adding additions: [JSONValue.Member] = []) -> JSONValue {
    let members: [(String, JSONValue)] = [
      ("indexEntries", JSONValue(indexEntries.map { Int64($0) })),
      ("damagedFile", JSONValue(salvage?.damagedFile)),
      ("models", salvage.map { Self.models($0.report) } ?? .null),
      ("notes", .array((salvage?.report.notes ?? []).map(JSONValue.string))),
    ]
    return .object(
      members.map { JSONValue.Member(name: $0.0, value: $0.1) } + additions
        + [JSONValue.Member(name: "failures", value: .array(failures.map(JSONValue.string)))]
    )
  }

  private static func models(_ report: RepairReport) -> JSONValue {
    .object(
      report.models.sorted { $0.key < $1.key }.map { name, model in
        let skipped = report.skippedObjects.count { $0.object.model == name }
        return JSONValue.Member(
          name: name,
          value: [
            "saved": .integer(Int64(model.saved)),
            "lost": JSONValue(model.lostCount.map { Int64($0) }),
            "idsWithoutObject": .integer(Int64(model.lost.count)),
            "withoutHotFields": .integer(Int64(model.withoutHotFields.count)),
            "skipped": .integer(Int64(skipped)),
          ]
        )
      }
    )
  }
}
