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
    /// Any number, so that one that is not a version can be named.
    var version: Double
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
  /// - Throws: ``CommandFailure``, as ``InputPath/open(_:flags:)``, or with `damaged`.
  package static func read(_ path: String) throws -> [MigrationStep] {
    try InputPath.requireReadable(path)
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
    } catch let error as DecodingError {
      throw CommandFailure(.damaged, "\(name) is not a file of migration steps: \(reason(error))")
    }
    let versions = try file.steps.enumerated().map { number, step in
      guard let version = UInt32(exactly: step.version), version > 0 else {
        throw CommandFailure(
          .damaged,
          "\(name): the version of step \(number + 1) is not a whole number from 1 to \(UInt32.max)"
        )
      }
      return version
    }
    guard !versions.isEmpty else { throw CommandFailure(.damaged, "\(name) has no steps") }
    guard zip(versions, versions.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw CommandFailure(.damaged, "\(name): the versions of the steps must ascend")
    }
    return try zip(file.steps, versions).map { step, version in
      MigrationStep(
        step.summary,
        to: version,
        try step.operations.enumerated().map { number, operation in
          guard let operation = operation.operation else {
            throw CommandFailure(
              .damaged,
              """
              \(name): operation \(number + 1) of version \(version) is none of renameModel \
              (to), removeModel, renameField (of, to) and removeField (of)
              """
            )
          }
          return operation
        }
      )
    }
  }

  /// What is wrong, in words.
  private static func reason(_ error: DecodingError) -> String {
    func place(_ path: [any CodingKey]) -> String {
      let text = path.reduce(into: "") { text, key in
        if let index = key.intValue {
          text += "[\(index)]"
        } else {
          text += (text.isEmpty ? "" : ".") + key.stringValue
        }
      }
      return text.isEmpty ? "the file" : "'\(text)'"
    }
    return switch error {
    case .keyNotFound(let key, let context):
      "\(place(context.codingPath)) has no '\(key.stringValue)'"
    case .valueNotFound(_, let context): "\(place(context.codingPath)) has no value"
    case .typeMismatch(let type, let context):
      "\(place(context.codingPath)) is not \(kind(type))"
    case .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "it is not valid JSON" : "\(place(context.codingPath)) has an invalid value"
    @unknown default: "it is not valid JSON"
    }
  }

  private static func kind(_ type: any Any.Type) -> String {
    if type == String.self { return "a string" }
    if type == Double.self { return "a number" }
    return type is any Sequence.Type && type != [String: Any].self ? "an array" : "an object"
  }
}
