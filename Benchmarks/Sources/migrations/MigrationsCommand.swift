import ArgumentParser
import Foundation
import ObjectStore

/// Measures what changes of a schema cost, beside GRDB's migrations.
@main
struct MigrationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrations",
    abstract: "Measures what changes of a schema cost, beside GRDB's migrations."
  )

  @Argument(help: "The number of objects.")
  var count = 1_000_000

  @Option(help: "The file for the figures in JSON.")
  var json = ".build/migrations.json"

  func run() throws {
    let folder = URL(filePath: NSTemporaryDirectory())
      .appending(path: "migrations-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var report = Report(count: count)
    let template = folder + "/template"
    try load(into: template, &report)
    let table = ArticleTable(folder: folder)
    try table.load(count, &report)

    try measureOpening(template, folder, &report)
    try table.measureOpening(&report)
    try BackgroundCost(template: template, folder: folder, count: count).measure(&report)
    try table.measureIndex(&report)
    try measureSteps(template, folder, &report)
    try measureStepsWhenRead(template, folder, &report)
    try table.measureTypeChange(&report)
    try report.write(to: URL(filePath: json))
  }

  /// Measures a change of type when the store is opened, and its rehearsal.
  private func measureSteps(_ template: String, _ folder: String, _ report: inout Report) throws {
    let path = folder + "/steps"
    try copy(template, to: path)
    var options = StoreOptions(schemaVersion: 2)
    options.migration = Migration(steps: [RetypedArticle.step])
    let models: [any Model.Type] = [RetypedArticle.self]
    let rehearsal = try Store.rehearseMigration(at: path, models: models, options: options)
    report.add("change of type, rehearsed", "ObjectStore", rehearsal.duration)
    if let memory = rehearsal.peakMemory {
      report.add("change of type: anonymous memory", "ObjectStore", Double(memory) / 1e6, "MB")
    }
    let time = try ContinuousClock().measure {
      _ = try Store(at: path, models: models, options: options)
    }
    report.add("change of type, at open", "ObjectStore", time)
    if let insert = report.rows.first(where: { $0.name == "bulk insert" })?.value {
      let rate = insert / (time / .milliseconds(1))
      report.add("change of type: rate", "ObjectStore", rate, "of the bulk insert's")
    }
    report.add(
      "rollback",
      "ObjectStore",
      try ContinuousClock().measure { _ = try Store.rollBackMigration(at: path) }
    )
  }

  /// Measures a change of type when objects are read.
  private func measureStepsWhenRead(
    _ template: String,
    _ folder: String,
    _ report: inout Report
  ) throws {
    let path = folder + "/when-read"
    try copy(template, to: path)
    var options = StoreOptions(schemaVersion: 2)
    options.migration = Migration(steps: [RetypedArticle.stepWhenRead])
    options.migration?.convertsInBackground = false
    let start = ContinuousClock.now
    let store = try Store(at: path, models: [RetypedArticle.self], options: options)
    report.add("change of type when read: open", "ObjectStore", start.duration(to: .now))
    let old = try timeOfLookups(store)
    let oldScan = try timeOfScan(store)
    report.add(
      "change of type when read: all objects",
      "ObjectStore",
      try ContinuousClock().measure { try store.finishConversions() }
    )
    let new = try timeOfLookups(store)
    let newScan = try timeOfScan(store)
    report.add("change of type when read: lookup of an old object", "ObjectStore", old)
    report.add("change of type when read: lookup of a new object", "ObjectStore", new)
    report.add("lookup of an old object", "ObjectStore", old / new, "of a new one's time")
    report.add("scan of old objects", "ObjectStore", oldScan / newScan, "of new ones' time")
  }

  /// Returns the least time of 100,000 lookups in three runs, divided by their number.
  private func timeOfLookups(_ store: Store) throws -> Duration {
    var random = SystemRandomNumberGenerator()
    let keys = (0..<100_000).map { _ in
      Contents.url(Int.random(in: 0..<count, using: &random))
    }
    var times: [Duration] = []
    for _ in 0..<3 {
      times.append(
        try ContinuousClock().measure {
          try store.read { tx in
            for key in keys {
              guard try tx.find(RetypedArticle.self, key: key) != nil else {
                throw ValidationError("\(key) is missing")
              }
            }
          }
        }
      )
    }
    return times.sorted()[0] / keys.count
  }

  private func timeOfScan(_ store: Store) throws -> Duration {
    try ContinuousClock().measure {
      try store.read { tx in try tx.forEach(RetypedArticle.all) { _ in true } }
    }
  }

  /// Copies a store, as if it had been opened before.
  private func copy(_ template: String, to path: String) throws {
    try FileManager.default.copyItem(atPath: template, toPath: path)
    // Otherwise the first commit would also wait until the copy is on the disk.
    let file = try FileHandle(forUpdating: URL(filePath: path + "/data.mdb"))
    try file.synchronize()
    // Checks the pages of the copy.
    _ = try Store(at: path, models: [PlainArticle.self])
  }

  private func load(into path: String, _ report: inout Report) throws {
    let store = try Store(at: path, models: [PlainArticle.self])
    let time = try ContinuousClock().measure {
      for start in stride(from: 0, to: count, by: 10_000) {
        let numbers = start..<min(start + 10_000, count)
        try store.write { try $0.insert(contentsOf: numbers.map { PlainArticle(.sample($0)) }) }
      }
    }
    report.add("bulk insert", "ObjectStore", time)
  }

  /// Measures the first opening of a store after each change that rewrites nothing.
  private func measureOpening(_ template: String, _ folder: String, _ report: inout Report) throws {
    func open(_ name: String, _ models: [any Model.Type]) throws {
      var times: [Duration] = []
      for number in 0..<5 {
        let path = "\(folder)/\(name.hashValue)-\(number)"
        try copy(template, to: path)
        times.append(
          try ContinuousClock().measure {
            let store = try Store(at: path, models: models)
            guard !store.isReadOnly else { throw ValidationError("\(name): only readable") }
          }
        )
        try FileManager.default.removeItem(atPath: path)
      }
      report.add(name, "ObjectStore", times.sorted()[2])
    }
    try open("open, no change", [PlainArticle.self])
    try open("open, added field", [RatedArticle.self])
    try open("open, field moved", [ColdArticle.self])
    try open("open, added index", [IndexedArticle.self])
  }
}
