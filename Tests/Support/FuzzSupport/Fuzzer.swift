internal import Foundation

/// What a fuzzer changes and what it checks; the rest of a fuzzer is in this module.
///
/// To add a fuzzer:
///
/// 1. Write a type that conforms to `Fuzzer`, in a library target of its own, so that tests can
///    call ``check(_:)`` with each input of the committed corpus.
/// 2. Add an executable target named like ``name`` whose `main.swift` is
///    `exit(await FuzzCommand.run(MyFuzzer.self))`.
/// 3. Add both to `Package.swift`, a line to `make fuzz`, and a test that replays the corpus and
///    calls ``FuzzProcess/run(_:_:)`` for some seconds.
///
/// The executable is a supervisor that starts itself again as a worker, in a process of limited
/// memory. The worker checks the corpus, then changed inputs. It writes each input to a file before
/// it checks it, so that the supervisor can save the input that ends the worker by a signal, by an
/// exit code that is not accepted, by a violated property or by standing still.
public protocol Fuzzer {
  /// The name of the executable.
  static var name: String { get }

  /// What the fuzzer does, in a sentence or two for `--help`.
  static var summary: String { get }

  /// Exit codes with which code under test may end the worker.
  ///
  /// The run goes on with a new worker. Empty by default.
  static var acceptedExitCodes: Set<Int32> { get }

  /// The address space of a worker in KiB, or `nil` for no limit; 1 GiB by default.
  static var memoryLimit: Int? { get }

  /// Begins at a seed, from which all changes follow.
  init(seed: UInt64) throws

  /// Returns an input that is like `input`, with parts of `other`.
  mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8]

  /// Gives an input to the code under test.
  ///
  /// - Returns: A description of what the code did with the input. An input with a new description
  ///   joins the corpus of the run; digits are ignored in the comparison.
  /// - Throws: An error that describes the property that does not hold.
  func check(_ input: [UInt8]) async throws -> String
}

extension Fuzzer {
  /// None.
  public static var acceptedExitCodes: Set<Int32> { [] }

  /// 1 GiB.
  public static var memoryLimit: Int? { 1_048_576 }
}

/// A property of the code under test that does not hold for an input.
public struct FuzzViolation: Error, Sendable, CustomStringConvertible {
  /// The property, and how it is violated.
  public var description: String

  /// Creates a violation.
  public init(_ description: String) {
    self.description = description
  }
}

/// The command line of a fuzzer.
public enum FuzzCommand {
  /// Runs the supervisor, a worker or a check of single files, as the arguments say.
  ///
  /// - Returns: The exit code: 0, 1 when something was found, or 64 for wrong arguments.
  public static func run<F: Fuzzer>(_ fuzzer: F.Type) async -> Int32 {
    do {
      let options = try FuzzOptions(Array(CommandLine.arguments.dropFirst()), for: fuzzer)
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

  /// Checks files and prints each outcome.
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
