internal import Foundation
internal import ObjectStore
internal import TestSupport

/// A fuzzer of damaged data files.
///
/// An input is a list of ``FileEdit``. The worker creates the file to which the edits apply,
/// because LMDB files are large and differ between machines.
public struct DataFileFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "data-file"

  /// The description for `--help`.
  public static let summary = "Verifies, repairs, reads and writes stores with damaged pages."

  /// Unlimited, because a store reserves far more address space than it uses.
  public static let memoryLimit: Int? = nil

  private var mutator: FileEditMutator
  private let folder: TemporaryFolder
  private let store: SampleStore

  /// Creates the store to which edits are applied later.
  ///
  /// - Throws: ``StoreError``, or a system error.
  public init(seed: UInt64) throws {
    folder = try TemporaryFolder(inMemory: true)
    store = try SampleStore(in: folder.path("base"))
    mutator = FileEditMutator(seed: seed, store.bytes)
  }

  /// Adds, removes or changes edits.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Verifies, repairs and uses a damaged store.
  ///
  /// - No operation crashes the process: damage causes an error or is reported.
  /// - A repaired store passes verification, except for references to lost objects.
  /// - The memory use of the process stays below a limit.
  ///
  /// - Throws: ``FuzzViolation``, or an error of the system or of verifying the repaired store.
  public func check(_ input: [UInt8]) throws -> String {
    let path = folder.path("store")
    let repaired = folder.path("repaired")
    defer {
      for name in [path, repaired] { try? FileManager.default.removeItem(atPath: name) }
    }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let damaged = FileEdit.edits(of: input).reduce(into: store.bytes) { $1.apply(to: &$0) }
    try Data(damaged).write(to: URL(filePath: path + "/data.mdb"))

    var words: [String] = []
    let report = try outcome(&words) { try Store.verify(at: path, limit: 5) }
    words += (report?.problemCounts ?? [:]).keys.map(\.rawValue).sorted()
    if let repair = try outcome(&words, { try Store.repair(at: path, into: repaired) }) {
      var problems = try Store.verify(at: repaired, limit: 1_000_000).problems
      // References to lost objects remain in an incomplete repair.
      if !repair.isComplete { problems.removeAll { $0.kind == .reference } }
      guard problems.isEmpty else {
        throw FuzzViolation("a repaired store has \(problems.prefix(3))")
      }
    }
    try outcome(&words, isValid: report?.isValid == true) { try SampleStore.use(path) }
    let memory = Self.peakMemory
    guard memory < Self.maximumMemory else {
      throw FuzzViolation("\(memory) KiB of memory were used")
    }
    return words.joined(separator: " ")
  }

  /// The limit of a worker's peak memory in KiB.
  ///
  /// The file has about 1 MiB.
  private static let maximumMemory = 512 << 10

  /// The peak memory of the process in KiB, or 0 if the system does not report it.
  private static var peakMemory: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  /// Runs an operation and records its outcome.
  ///
  /// Allows errors that a damaged file may cause.
  @discardableResult
  private func outcome<R>(
    _ words: inout [String],
    isValid: Bool = true,
    _ body: () throws -> R
  ) throws -> R? {
    do {
      let result = try body()
      words.append("done")
      return result
    } catch let error as StoreError {
      let allowed: [StoreError.Code] = [
        .damaged, .notFound, .tooNew, .schemaMismatch, .duplicateKey, .danglingReference, .mapFull,
        .unknownModel, .otherFormat,
      ]
      // A changed number can cause an allocation that fails.
      let isAllocationFailure = !isValid && error.code == .other
      guard isAllocationFailure || allowed.contains(error.code) else {
        throw FuzzViolation("unexpected error \(error.code) for a damaged file: \(error)")
      }
      words.append("\(error.code)")
      return nil
    }
  }
}
