internal import Foundation
public import FuzzSupport
internal import ObjectStore
internal import TestSupport

/// Changes the data file of a store and works with it.
///
/// An input is a list of ``FileEdit``. The file that they change is made by the worker, because
/// files of LMDB are large and differ between machines.
public struct DataFileFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "data-file-fuzz"

  /// What the fuzzer does.
  public static let summary = "Verifies, repairs, reads and writes stores with changed pages."

  /// None: a store reserves far more address space than it uses.
  public static let memoryLimit: Int? = nil

  private var mutator: FileEditMutator
  private let folder: TemporaryFolder
  private let store: SampleStore

  /// Makes the store that is damaged later.
  ///
  /// - Throws: ``StoreError``, or an error of the system.
  public init(seed: UInt64) throws {
    folder = try TemporaryFolder(inMemory: true)
    store = try SampleStore(in: folder.path("base"))
    mutator = FileEditMutator(seed: seed, store.bytes)
  }

  /// Adds, removes or changes edits.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Verifies and repairs a damaged store, and then works with it.
  ///
  /// - Nothing that is done with a store ends the process: damage is an error or in a report.
  /// - A repaired store passes the verification, but for references to objects that are lost.
  /// - The process does not need more memory than the size of the file explains.
  ///
  /// - Throws: ``FuzzViolation``, or an error of the store that does not name damage.
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
    let report = try outcome(&words) { try ObjectStore.verify(at: path, limit: 5) }
    words += (report?.problemCounts ?? [:]).keys.map(\.rawValue).sorted()
    if let repair = try outcome(&words, { try ObjectStore.repair(at: path, into: repaired) }) {
      var problems = try ObjectStore.verify(at: repaired, limit: 1_000_000).problems
      // What refers to an object that is lost still does.
      if !repair.isComplete { problems.removeAll { $0.kind == .reference } }
      guard problems.isEmpty else {
        throw FuzzViolation("a repaired store has \(problems.prefix(3))")
      }
    }
    try outcome(&words, isSound: report?.isSound == true) { try SampleStore.use(path) }
    let memory = Self.peakMemory
    guard memory < Self.mostMemory else { throw FuzzViolation("\(memory) KiB of memory were used") }
    return words.joined(separator: " ")
  }

  /// KiB that a worker may have needed at most; the file has about one MiB.
  private static let mostMemory = 512 << 10

  /// The most memory that the process has had, in KiB; 0 where the system does not tell.
  private static var peakMemory: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  /// Notes whether the work succeeds, and allows errors that a damaged file may cause.
  @discardableResult
  private func outcome<R>(
    _ words: inout [String],
    isSound: Bool = true,
    _ body: () throws -> R
  ) throws -> R? {
    do {
      let result = try body()
      words.append("done")
      return result
    } catch let error as StoreError {
      let allowed: [StoreError.Code] = [
        .damaged, .notFound, .tooNew, .schemaMismatch, .duplicateKey, .danglingReference, .full,
        .unknownModel,
      ]
      // A number that was changed can ask for too much memory.
      let isAnything = !isSound && error.code == .other
      guard isAnything || allowed.contains(error.code) else {
        throw FuzzViolation("\(error.code) is no error of a damaged file: \(error)")
      }
      words.append("\(error.code)")
      return nil
    }
  }
}
