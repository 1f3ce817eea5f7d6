import ArgumentParser
import InventoryModels
import ObjectStoreModel

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks the whole store for damage."
  )

  @OptionGroup var location: StoreLocation

  func run() throws {
    // `verify` does not open the store, so it also works on one that is too damaged to open.
    let report = try Store.verify(at: location.path)
    for problem in report.problems { Console.print("\(problem)") }
    guard report.isValid else {
      throw StoreError(
        .damaged,
        "verification found \(report.problemCount) problems in \(location.path)"
      )
    }
    for (name, counts) in report.models.sorted(by: { $0.key < $1.key }) {
      Console.print("\(name): \(counts.objects) objects, \(counts.indexEntries) index entries")
    }
  }
}
