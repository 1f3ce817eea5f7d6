internal import DownloadStore

/// An amount of records and files that are removed, or would be.
struct RemovedAmount {
  var recordCount = 0
  var fileCount = 0
  var byteCount: Int128 = 0

  mutating func add(_ files: [PurgePlan.File]) {
    fileCount += files.count
    byteCount += files.reduce(0) { $0 + Int128($1.size) }
  }

  /// The records, the files and their size.
  var text: String { "\(Self.count(recordCount, "record")), \(fileText)" }

  /// The files and their size.
  var fileText: String {
    "\(Self.count(fileCount, "file")), \(Int64(clamping: byteCount)) bytes"
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}

extension RemovedAmount {
  /// Creates the amount of some files.
  init(_ files: [PurgePlan.File]) {
    self.init()
    add(files)
  }
}
