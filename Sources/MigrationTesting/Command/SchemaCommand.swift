internal import Foundation
public import ObjectStore

/// A command-line tool that checks and records the schema of a program.
///
/// It is the whole of an executable target beside the program:
///
/// ```swift
/// @main struct NotesSchema {
///   static func main() {
///     SchemaCommand(models: [Note.self], version: 3, folder: "Migrations").main()
///   }
/// }
/// ```
///
/// ```sh
/// swift run notes-schema check     # what a release would do to existing stores
/// swift run notes-schema accept    # writes the lock file
/// swift run notes-schema release   # freezes the schema of a release
/// ```
public struct SchemaCommand: Sendable {
  private let models: [any Model.Type]
  private let version: UInt32
  private let folder: SchemaFolder

  /// Creates the tool.
  ///
  /// - Parameters:
  ///   - models: The models that the program opens a store with.
  ///   - version: Their schema version, as in `StoreOptions.schemaVersion`.
  ///   - folder: The path of the ``SchemaFolder``, relative to the current folder.
  public init(models: [any Model.Type], version: UInt32, folder: String) {
    self.models = models
    self.version = version
    self.folder = SchemaFolder(folder)
  }

  /// Runs the tool with the arguments of the process, and ends the process.
  ///
  /// The exit status is 0 if the schema may be released, 1 if it may not or a file cannot be read,
  /// and 64 if the arguments are wrong.
  public func main() -> Never {
    let (status, output) = run(Array(CommandLine.arguments.dropFirst()))
    let file = status == 0 ? FileHandle.standardOutput : .standardError
    try? file.write(contentsOf: Data((output + "\n").utf8))
    exit(status)
  }

  /// Runs the tool, and returns its exit status and what it prints.
  func run(_ arguments: [String]) -> (status: Int32, output: String) {
    do {
      switch (arguments.first, Array(arguments.dropFirst())) {
      case ("check", []): return try check([:])
      case ("check", let options):
        guard let path = Self.storePath(options) else { return (64, Self.usage) }
        return try check(Self.objectCounts(in: path, of: models))
      case ("accept", []): return try accept()
      case ("release", []):
        return (0, "release \(try folder.release(models, version: version))")
      case ("help", _), ("--help", _), ("-h", _), (_, ["--help"]), (_, ["-h"]):
        return (0, Self.usage)
      default: return (64, Self.usage)
      }
    } catch {
      return (1, "\(error)")
    }
  }

  private func check(_ objectCounts: [String: Int]) throws -> (Int32, String) {
    let report = try folder.check(models, version: version, objectCounts: objectCounts)
    return (report.problems.isEmpty ? 0 : 1, "\(report)")
  }

  private func accept() throws -> (Int32, String) {
    do {
      let report = try folder.accept(models, version: version)
      return (0, "\(folder.lockPath) describes the models\n\(report)")
    } catch let error as SchemaError {
      return (1, "not accepted: \(folder.lockPath) is unchanged\n\(error)")
    }
  }

  /// Returns the path in `--store PATH` or `--store=PATH`; `nil` for other arguments.
  private static func storePath(_ options: [String]) -> String? {
    let name = "--store"
    guard let first = options.first else { return nil }
    let path: String
    if first == name, options.count == 2 {
      path = options[1]
    } else if first.hasPrefix(name + "="), options.count == 1 {
      path = String(first.dropFirst(name.count + 1))
    } else {
      return nil
    }
    return path.isEmpty ? nil : path
  }

  /// Returns the number of objects of each model in a store.
  private static func objectCounts(
    in path: String,
    of models: [any Model.Type]
  ) throws -> [String: Int] {
    let store = try Store(at: path, models: [], options: StoreOptions(access: .readOnly))
    return try Dictionary(
      store.storedModels().map { ($0.name, $0.objectCount) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  private static let usage = """
    usage: check [--store FOLDER] | accept | release

    check    compares the models with the newest release, and prints what the differences mean
             for existing stores; with --store, for the objects of that store
    accept   writes the lock file after a change of the models
    release  records the schema of a release, which never changes after that
    """
}
