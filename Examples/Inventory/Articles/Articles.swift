import Foundation

/// Runs the code of the articles in the documentation of ObjectStore.
@main
struct Articles {
  static func main() async throws {
    let folder = NSTemporaryDirectory() + "articles-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try gettingStarted(folder + "/store")
    try await asynchronous(store)
    try errors(store)
    try nested(store)
    try editing(store)
    try conditions(store)
    try results(store)
    try foundationPredicates(store)
    try pages(store)
    try views(store)
    try plans(store)
    try columns(folder + "/measurements")
    try writesByQuery(store)
    try snapshots(store)
    try references(store)
    try conditionsOnTargets(store)
    try deletions(store)
    try dangling(store)
    try history(store)
    try await observing(store)
    try await observingOne(store)
    try ownWrites(store)
    live(store)
    try migrating(folder + "/notes")
    try migratingWhenRead(folder + "/more-notes")
    try releasing(folder + "/recipes", folder + "/releases")
    try thirdRelease(folder + "/recipes")
    try inspection(store)
    try backup(store, folder + "/backup")
    try exports(store, folder + "/store.jsonl", folder + "/copy")
    try verification(folder + "/copy")
    try compaction(folder + "/copy")
    try repair(folder + "/copy", folder + "/rescued")
  }
}

func expect(_ condition: Bool, line: Int = #line, file: String = #fileID) {
  precondition(condition, "\(file):\(line): the article is wrong")
}
