internal import SystemInterface

/// The arguments of this process.
package enum CommandLineArguments {
  /// Returns the arguments without the program's name.
  ///
  /// An argument that is not UTF-8 cannot be converted: a name with U+FFFD is that of another file.
  ///
  /// - Parameter convert: Converts an argument that is not UTF-8, if it can.
  /// - Returns: The arguments.
  /// - Throws: ``CommandFailure`` with `usage` for an argument that is not converted.
  package static func ofProcess(
    _ convert: ([UInt8]) -> String? = { _ in nil }
  ) throws(CommandFailure) -> [String] {
    var arguments: [String] = []
    for (position, bytes) in argumentBytes().enumerated().dropFirst() {
      arguments.append(try argument(bytes, at: position, convert))
    }
    return arguments
  }

  /// Converts one argument.
  ///
  /// - Throws: As ``ofProcess(_:)``.
  package static func argument(
    _ bytes: [UInt8],
    at position: Int,
    _ convert: ([UInt8]) -> String? = { _ in nil }
  ) throws(CommandFailure) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) ?? convert(bytes) else {
      throw CommandFailure(.usage, "argument \(position) is not valid UTF-8")
    }
    return text
  }
}
