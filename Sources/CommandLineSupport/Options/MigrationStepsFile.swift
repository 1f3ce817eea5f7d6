package import Foundation
package import ObjectStore

/// A file with migration steps that need no code.
///
/// ```json
/// {
///   "steps": [
///     {
///       "version": 2,
///       "summary": "call authors persons",
///       "operations": [
///         {"renameModel": "Author", "to": "Person"},
///         {"renameField": "mail", "of": "Person", "to": "email"},
///         {"removeField": "note", "of": "Person"},
///         {"removeModel": "Draft"}
///       ]
///     }
///   ]
/// }
/// ```
package struct MigrationStepsFile: Decodable {
  private struct Step: Decodable {
    var version: UInt32
    var summary: String
    var operations: [Operation]
  }

  private struct Operation: Decodable {
    var renameModel: String?
    var removeModel: String?
    var renameField: String?
    var removeField: String?
    var of: String?
    var to: String?

    /// The operation, or `nil` unless it is exactly one, with exactly its operands.
    var operation: MigrationOperation? {
      let names = [renameModel, removeModel, renameField, removeField].compactMap(\.self)
      guard names.count == 1, ([of, to].compactMap(\.self) + names).allSatisfy({ !$0.isEmpty })
      else {
        return nil
      }
      switch (renameModel, removeModel, renameField, removeField, of, to) {
      case (let name?, nil, nil, nil, nil, let newName?):
        return .renameModel(name, to: newName)
      case (nil, let name?, nil, nil, nil, nil): return .removeModel(name)
      case (nil, nil, let name?, nil, let model?, let newName?):
        return .renameField(name, of: model, to: newName)
      case (nil, nil, nil, let name?, let model?, nil): return .removeField(name, of: model)
      default: return nil
      }
    }
  }

  private var steps: [Step]

  /// Reads a file.
  ///
  /// - Throws: ``CommandFailure`` with `notFound` or `damaged`.
  package static func read(_ path: String) throws -> [MigrationStep] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CommandFailure(.notFound, "\(path) cannot be read")
    }
    return try steps(data, named: path)
  }

  /// Decodes a file.
  package static func steps(_ data: Data, named name: String) throws -> [MigrationStep] {
    let file: MigrationStepsFile
    do {
      file = try JSONDecoder().decode(MigrationStepsFile.self, from: data)
    } catch {
      throw CommandFailure(.damaged, "\(name) is not a file of migration steps: \(error)")
    }
    guard let first = file.steps.first, first.version > 0,
      zip(file.steps, file.steps.dropFirst()).allSatisfy({ $0.version < $1.version })
    else {
      throw CommandFailure(.damaged, "\(name): the versions of the steps must ascend from 1")
    }
    return try file.steps.map { step in
      MigrationStep(
        step.summary,
        to: step.version,
        try step.operations.enumerated().map { number, operation in
          guard let operation = operation.operation else {
            throw CommandFailure(
              .damaged,
              """
              \(name): operation \(number + 1) of version \(step.version) is none of renameModel \
              (to), removeModel, renameField (of, to) and removeField (of)
              """
            )
          }
          return operation
        }
      )
    }
  }
}
