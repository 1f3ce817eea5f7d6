internal import Foundation
package import ObjectStore

/// The migrations of a store, with output as text or as JSON.
package struct MigrationReport {
  /// The models and options with which a store is opened.
  package struct Target {
    /// The models.
    package var models: [any Model.Type]
    /// The options.
    package var options: StoreOptions

    /// Creates a target.
    package init(models: [any Model.Type], options: StoreOptions) {
      self.models = models
      self.options = options
    }
  }

  private let path: String
  private let json: Bool
  private let refuseUser: (String) throws -> Void

  /// Creates the report of a store.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the store's folder.
  ///   - json: Whether to print JSON objects.
  ///   - refuseUser: Throws an error if a known program uses the store; called before a change that
  ///     needs the store closed.
  package init(
    _ path: String,
    json: Bool,
    refuseUser: @escaping (String) throws -> Void = { _ in }
  ) {
    self.path = path
    self.json = json
    self.refuseUser = refuseUser
  }

  // MARK: Status

  /// Prints the version, the last migration, and indexes and conversions that are not complete.
  ///
  /// - Throws: ``StoreError``.
  package func printStatus() throws {
    let status = try Store.migrationStatus(at: path)
    let reading = StoreOptions(access: .readOnly)
    let builds = try Store(at: path, models: [], options: reading).indexBuilds()
    if json {
      return try printJSON([
        "version": .integer(Int64(status.version)),
        "previousVersion": status.previousVersion.map { .integer(Int64($0)) } ?? .null,
        "previousFile": status.previousFile.map { .string($0) } ?? .null,
        "previousFileBytes": .integer(status.previousFileSize),
        "interrupted": .bool(status.isInterrupted),
        "conversions": .array(
          status.conversions.map { conversion in
            [
              "model": .string(conversion.model),
              "versions": .array(conversion.versions.map { .integer(Int64($0)) }),
              "objects": .integer(Int64(conversion.objectCount)),
              "total": .integer(Int64(conversion.totalObjectCount)),
            ]
          }
        ),
        "indexBuilds": .array(
          builds.map { build in
            [
              "model": .string(build.model),
              "fields": .array(build.fields.map { .string($0) }),
              "objects": .integer(Int64(build.objectCount)),
              "total": .integer(Int64(build.totalObjectCount)),
            ]
          }
        ),
      ])
    }
    var lines = ["version  \(status.version)"]
    if let previous = status.previousVersion { lines.append("migrated from version \(previous)") }
    if let file = status.previousFile {
      let size = ByteAmount.text(status.previousFileSize)
      lines.append("rollback to \(TerminalText.safe(file)) (\(size))")
    }
    if status.isInterrupted {
      lines.append("a migration was interrupted: its program continues it, or starts again")
    }
    for conversion in status.conversions {
      lines.append(
        TerminalText.safe(
          "its program converts \(conversion.model): \(conversion.objectCount) of "
            + "\(conversion.totalObjectCount) objects"
        )
      )
    }
    for build in builds {
      let fields = build.fields.joined(separator: ", ")
      lines.append(
        TerminalText.safe(
          "building index \(build.model)(\(fields)): \(build.objectCount) of "
            + "\(build.totalObjectCount) objects"
        )
      )
    }
    try Output.current.line(lines.joined(separator: "\n"))
  }

  /// Prints the steps that the store needs.
  ///
  /// - Throws: ``CommandFailure`` with `failed` if it needs any, or `damaged` if its version is later;
  ///   ``StoreError``, with `invalidInput` if a step does not fit the store.
  package func printCheck(_ target: Target) throws {
    let status = try Store.migrationStatus(at: path)
    let own = target.options.schemaVersion
    try Store.checkMigration(at: path, models: target.models, options: target.options)
    let pending = (target.options.migration?.steps ?? []).filter {
      $0.version > status.version && $0.version <= own
    }
    if json {
      try printJSON([
        "version": .integer(Int64(status.version)), "target": .integer(Int64(own)),
        "steps": .array(pending.map { .string($0.summary) }),
      ])
    } else {
      try Output.current.line("version \(status.version), target \(own)")
      for step in pending {
        try Output.current.line(TerminalText.safe("needs step \(step.version): \(step.summary)"))
      }
    }
    guard status.version <= own else {
      throw CommandFailure(
        .damaged,
        "the store has schema version \(status.version), which is later: update this program"
      )
    }
    if !pending.isEmpty { throw CommandFailure(.failed) }
  }

  // MARK: Migrating

  /// Executes the steps on a snapshot, and prints the objects that would fail.
  ///
  /// - Throws: ``CommandFailure`` with `failed` if there are any; ``StoreError``.
  package func rehearse(_ target: Target) throws {
    let rehearsal = try Store.rehearseMigration(
      at: path,
      models: target.models,
      options: target.options
    )
    let seconds = rehearsal.duration / .seconds(1)
    if json {
      try printJSON([
        "from": .integer(Int64(rehearsal.from)), "to": .integer(Int64(rehearsal.to)),
        "steps": .array(rehearsal.steps.map { .string($0) }),
        "objects": .integer(Int64(rehearsal.objectCount)),
        "failed": .integer(Int64(rehearsal.failureCount)),
        "failures": .array(rehearsal.failures.map { .string("\($0)") }),
        "seconds": .double(seconds),
        "bytes": .integer(rehearsal.fileSize),
        "memoryBytes": rehearsal.peakMemory.map { .integer($0) } ?? .null,
      ])
    } else if rehearsal.steps.isEmpty {
      try Output.current.line("version \(rehearsal.from): no step is needed")
    } else {
      for failure in rehearsal.failures { Output.current.say(TerminalText.safe("\(failure)")) }
      let memory = rehearsal.peakMemory.map { ", \(ByteAmount.text($0)) of memory" } ?? ""
      try Output.current.line(
        """
        version \(rehearsal.from) to \(rehearsal.to): \(rehearsal.objectCount) objects, \
        \(rehearsal.failureCount) would fail; \(seconds.formatted(.number.precision(.fractionLength(1)))) s, \
        \(ByteAmount.text(rehearsal.fileSize))\(memory)
        """
      )
    }
    if rehearsal.failureCount > 0 { throw CommandFailure(.failed) }
  }

  /// Migrates the store, and completes its conversions and indexes.
  ///
  /// - Throws: ``CommandFailure``; ``StoreError``.
  package func migrate(_ target: Target) throws {
    let before = try Store.migrationStatus(at: path)
    let store: Store
    do {
      store = try Store(at: path, models: target.models, options: target.options)
    } catch let error as StoreError where error.code == .busy {
      try refuseUser(path)
      throw CommandFailure(.failed, error.message)
    }
    guard !store.isReadOnly else {
      throw CommandFailure(
        .damaged,
        "the store has schema version \(before.version), which is later: update this program"
      )
    }
    try store.finishConversions()
    try store.finishIndexBuilds()
    let after = try Store.migrationStatus(at: path)
    if json {
      let value: JSONValue = [
        "from": .integer(Int64(before.version)), "to": .integer(Int64(after.version)),
        "previousFile": after.previousFile.map { .string($0) } ?? .null,
      ]
      return try Output.current.report(value.prettyText + "\n")
    }
    guard after.version != before.version else {
      return try Output.current.line("version \(after.version): nothing to migrate")
    }
    let kept = after.previousFile.map { "; the previous file is \(TerminalText.safe($0))" } ?? ""
    try Output.current.report(
      "migrated from version \(before.version) to \(after.version)\(kept)\n"
    )
  }

  /// Restores the file before the last migration, and prints what was written since.
  ///
  /// - Throws: ``CommandFailure`` with `notFound` if there is no such file; ``StoreError``.
  package func rollBack() throws {
    let report: RollbackReport
    do {
      try refuseUser(path)
      report = try ClosedStore.perform(path) { try Store.rollBackMigration(at: path) }
    } catch let error as StoreError
      where error.code == .notFound && (try? Store.migrationStatus(at: path)) != nil
    {
      // The previous file is missing, not the store: no advice to add a download.
      throw CommandFailure(.notFound, error.message)
    }
    if json {
      let value: JSONValue = [
        "version": .integer(Int64(report.version)),
        "complete": .bool(report.isComplete),
        "migratedFile": .string(report.migratedFile),
        "lost": .array(
          report.lost.sorted { $0.key < $1.key }.map { model, changes in
            [
              "model": .string(model), "inserted": .integer(Int64(changes.inserted)),
              "updated": .integer(Int64(changes.updated)),
              "deleted": .integer(Int64(changes.deleted)),
            ]
          }
        ),
      ]
      return try Output.current.report(value.prettyText + "\n")
    }
    var text = "rolled back to version \(report.version)\n"
    for (model, changes) in report.lost.sorted(by: { $0.key < $1.key }) {
      text +=
        TerminalText.safe(
          "not in it: \(model): \(changes.inserted) inserted, \(changes.updated) updated, "
            + "\(changes.deleted) deleted since"
        ) + "\n"
    }
    if !report.isComplete {
      text += "the history does not tell everything that was written since\n"
    }
    text += "the migrated file is \(TerminalText.safe(report.migratedFile))\n"
    try Output.current.report(text)
  }

  private func printJSON(_ value: JSONValue) throws { try Output.current.line(value.prettyText) }
}
