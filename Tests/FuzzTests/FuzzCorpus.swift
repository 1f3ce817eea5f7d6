import Foundation

/// The inputs of a fuzzer, in a folder of `Corpora` with its name.
struct FuzzCorpus {
  let path: String

  init(_ fuzzer: String) {
    path =
      URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpora/\(fuzzer)").path
  }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  func input(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path).appending(path: name)))
  }
}

/// The duration of a fuzzer run in seconds: 3 by default, a minute in CI (`make fuzz`).
let fuzzSeconds = ProcessInfo.processInfo.environment["DLSTORE_FUZZ_SECONDS"] ?? "3"
