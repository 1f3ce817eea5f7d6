import ArgumentParser
import ObjectStoreModel

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Looks at every byte of the store."
  )

  @OptionGroup var location: StoreLocation

  func run() throws {
    // Not opened first: nothing of a damaged file is trusted before it was looked at.
    let report = try Store.verify(at: location.path)
    for problem in report.problems { Console.print("\(problem)") }
    guard report.isValid else {
      throw StoreError(.damaged, "\(report.problemCount) problems in \(location.path)")
    }
    for (name, counts) in report.models.sorted(by: { $0.key < $1.key }) {
      Console.print("\(name): \(counts.objects) objects, \(counts.indexEntries) index entries")
    }
  }
}
