internal import Foundation

/// The options of a fuzzer on the command line.
struct FuzzOptions {
  /// A deliberate failure of a worker, to test that the supervisor detects it.
  enum Fault: String {
    case trap
    case hang
    case memory
    case violation
  }

  struct UsageError: Error, CustomStringConvertible {
    var description: String
  }

  var seconds = 10.0
  var seed = UInt64.random(in: 0...UInt64(UInt32.max))
  var corpus: String?
  var crashes = "."
  /// The processor time in which a worker must have checked an input.
  var hangSeconds = 20.0
  var grows = false
  var fault: Fault?
  var files: [String] = []
  /// The file in which a worker reports its state to the supervisor; set in a worker.
  var state: String?
  /// The number of corpus inputs that earlier workers checked; set in a worker.
  var skippedCount = 0

  init<F: Fuzzer>(_ arguments: [String], for fuzzer: F.Type) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--seconds": seconds = try Self.number(&rest, argument)
      case "--hang-seconds": hangSeconds = try Self.number(&rest, argument)
      case "--seed": seed = try Self.number(&rest, argument)
      case "--corpus": corpus = try Self.value(&rest, argument)
      case "--crashes": crashes = try Self.value(&rest, argument)
      case "--state": state = try Self.value(&rest, argument)
      case "--skip": skippedCount = try Self.number(&rest, argument)
      case "--grow": grows = true
      case "--fault": fault = Fault(rawValue: try Self.value(&rest, argument))
      case _ where argument.hasPrefix("--"):
        throw UsageError(description: Self.usage(F.name, F.summary))
      default: files.append(argument)
      }
    }
  }

  private static func usage(_ name: String, _ summary: String) -> String {
    """
    usage: fuzz \(name) [--seconds N] [--seed N] [--corpus FOLDER] [--crashes FOLDER]
           [--hang-seconds N] [--grow] [--fault trap|hang|memory|violation]
           fuzz \(name) FILE...

    \(summary)
    Saves inputs that crash the worker, hang it or violate a property in the folder for crashes, and
    exits with 1. --grow adds inputs with a new outcome to the corpus. With files, checks only these.
    """
  }

  private static func value(_ rest: inout ArraySlice<String>, _ name: String) throws -> String {
    guard let value = rest.popFirst() else {
      throw UsageError(description: "\(name) needs a value")
    }
    return value
  }

  private static func number<Number: LosslessStringConvertible>(
    _ rest: inout ArraySlice<String>,
    _ name: String
  ) throws -> Number {
    let text = try value(&rest, name)
    guard let number = Number(text) else {
      throw UsageError(description: "\(name) needs a number, not \(text)")
    }
    return number
  }

  /// Returns the inputs of the corpus, sorted by file name.
  func corpusInputs() throws -> [[UInt8]] {
    guard let corpus else { return [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: corpus).sorted()
    return try names.map { name in
      Array(try Data(contentsOf: URL(filePath: corpus).appending(path: name)))
    }
  }
}
