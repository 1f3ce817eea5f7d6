internal import Foundation

/// The mutations and checks of a fuzzer.
///
/// This module implements the rest.
///
/// To add a fuzzer:
///
/// 1. Write a type that conforms to `Fuzzer` in this module. ``RandomChoices`` has the choices that
///    mutators share.
/// 2. Add the type to ``FuzzCommand/fuzzers``, so that the program `fuzz` runs it, and its name to
///    `.ci/fuzz`.
/// 3. Add inputs to `Tests/FuzzTests/Corpora/NAME`, and a test in `Tests/FuzzTests` that calls
///    ``check(_:)`` with each of them and ``FuzzProcess/run(_:_:)`` for a few seconds.
///
/// The program is a supervisor that starts itself again as a worker process with limited memory.
/// The worker checks the corpus, then mutated inputs. It writes each input to a file before the
/// check, so that the supervisor can save an input that ends the worker with a signal or an
/// unaccepted exit code, violates a property, or hangs.
public protocol Fuzzer {
  /// The name of the fuzzer, the first argument of the program `fuzz`.
  static var name: String { get }

  /// A description of the fuzzer for `--help`, in one or two sentences.
  static var summary: String { get }

  /// The exit codes with which the code under test may end the worker.
  ///
  /// The run continues with a new worker. Empty by default.
  static var acceptedExitCodes: Set<Int32> { get }

  /// The limit of a worker's address space in KiB, or `nil` for no limit. 1 GiB by default.
  static var memoryLimit: Int? { get }

  /// Creates a fuzzer whose mutations are determined by a seed.
  init(seed: UInt64) throws

  /// Returns a mutation of `input`, which may contain parts of `other`.
  mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8]

  /// Runs the code under test with an input.
  ///
  /// - Returns: A description of the outcome. An input with a new outcome is added to the corpus of
  ///   the run; the comparison ignores digits.
  /// - Throws: An error that describes the violated property.
  func check(_ input: [UInt8]) async throws -> String
}

extension Fuzzer {
  /// No exit codes are accepted.
  public static var acceptedExitCodes: Set<Int32> { [] }

  /// The address space is limited to 1 GiB.
  public static var memoryLimit: Int? { 1_048_576 }
}

/// A violated property of the code under test.
public struct FuzzViolation: Error, Sendable, CustomStringConvertible {
  /// The property and its violation.
  public var description: String

  /// Creates a violation.
  public init(_ description: String) {
    self.description = description
  }
}

/// The command line of the program `fuzz`.
public enum FuzzCommand {
  /// All fuzzers, in the order of the help.
  public static var fuzzers: [any Fuzzer.Type] {
    [
      ResumeDataFuzzer.self, JSONLinesFuzzer.self, RecordImportFuzzer.self, RowFuzzer.self,
      DataFileFuzzer.self, HTTPResponseFuzzer.self, HTTPSocketFuzzer.self, HTTP2Fuzzer.self,
      RequestTargetFuzzer.self,
    ]
  }

  /// Runs the fuzzer that the first argument names.
  ///
  /// - Returns: The exit code: 0, 1 if an input failed, or 64 for invalid arguments.
  public static func run() async -> Int32 {
    let name = CommandLine.arguments.dropFirst().first
    guard let fuzzer = fuzzers.first(where: { $0.name == name }) else {
      print("usage: fuzz NAME [OPTION...] [FILE...]\n")
      for fuzzer in fuzzers {
        print("\(fuzzer.name.padding(toLength: 16, withPad: " ", startingAt: 0))\(fuzzer.summary)")
      }
      return name == "--help" ? 0 : 64
    }
    return await run(fuzzer)
  }

  /// Runs the supervisor, a worker, or a check of single files, depending on the arguments.
  ///
  /// - Returns: The exit code: 0, 1 if an input failed, or 64 for invalid arguments.
  private static func run<F: Fuzzer>(_ fuzzer: F.Type) async -> Int32 {
    do {
      let options = try FuzzOptions(Array(CommandLine.arguments.dropFirst(2)), for: fuzzer)
      if let state = options.state {
        return try await FuzzWorker<F>(options: options, state: state).run()
      }
      if !options.files.isEmpty { return try await check(options, fuzzer) }
      return try FuzzSupervisor<F>(options: options).run()
    } catch {
      print("\(F.name): \(error)")
      return 64
    }
  }

  /// Checks the files and prints each outcome.
  private static func check<F: Fuzzer>(
    _ options: FuzzOptions,
    _ fuzzer: F.Type
  ) async throws -> Int32 {
    let fuzzer = try F(seed: options.seed)
    var status: Int32 = 0
    for file in options.files {
      let input = Array(try Data(contentsOf: URL(filePath: file)))
      do {
        print("\(file): \(try await fuzzer.check(input))")
      } catch {
        print("\(file): violation: \(error)")
        status = 1
      }
    }
    return status
  }
}
