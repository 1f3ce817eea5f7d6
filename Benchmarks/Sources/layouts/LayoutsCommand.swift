import Foundation

/// `layouts [records] [file]`: compares storage layouts, prints one table and writes it as JSON.
@main
enum LayoutsCommand {
  static func main() throws {
    let arguments = CommandLine.arguments
    let count = arguments.count > 1 ? Int(arguments[1]) : 1_000_000
    guard let count, count >= 1_000 else {
      print("usage: layouts [records, at least 1000] [JSON file]")
      exit(64)
    }
    let file = URL(filePath: arguments.count > 2 ? arguments[2] : ".build/layouts.json")
    let stores = file.deletingLastPathComponent().appending(path: "layouts-stores")
    try FileManager.default.createDirectory(at: stores, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: stores) }

    var workloads = Workloads(count: count, folder: stores)
    try workloads.run()
    let report = Report(
      records: count,
      contenders: Entry.all.map(\.name),
      rows: workloads.rows
    )
    print(report.table)
    try report.write(to: file)
  }
}
