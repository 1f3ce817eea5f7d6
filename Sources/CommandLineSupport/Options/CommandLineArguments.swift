internal import SystemInterface

/// The arguments of this process.
package enum CommandLineArguments {
  /// Returns the arguments without the program's name.
  ///
  /// An argument that is not UTF-8 cannot be converted: a name with U+FFFD is that of another file. So
  /// this refuses also a current folder and variables that are not UTF-8, unless the arguments ask for
  /// help.
  ///
  /// - Parameters:
  ///   - isRead: Whether the program reads an environment variable.
  ///   - convert: Converts an argument that is not UTF-8, if it can.
  /// - Returns: The arguments.
  /// - Throws: ``CommandFailure`` with `usage` for an argument that is not converted, the current folder
  ///   or a variable.
  package static func ofProcess(
    reading isRead: (String) -> Bool,
    _ convert: ([UInt8]) -> String? = { _ in nil }
  ) throws(CommandFailure) -> [String] {
    var arguments: [String] = []
    for (position, bytes) in argumentBytes().enumerated().dropFirst() {
      arguments.append(try argument(bytes, at: position, convert))
    }
    if !CommandLineScan.isRequest(arguments) { try requireText(isRead) }
    return arguments
  }

  /// Throws if the path of the current folder or the value of a variable is not UTF-8.
  ///
  /// A current folder that was deleted has no path.
  private static func requireText(_ isRead: (String) -> Bool) throws(CommandFailure) {
    if let folder = currentFolderBytes(), String(validating: folder, as: UTF8.self) == nil {
      throw CommandFailure(
        .usage,
        "the path of the current folder is not valid UTF-8: change to another folder"
      )
    }
    for entry in environmentBytes() where String(validating: entry, as: UTF8.self) == nil {
      let name = String(validating: entry.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
      guard let name, isRead(name) else { continue }
      throw CommandFailure(.usage, "the environment variable \(name) is not valid UTF-8")
    }
  }

  /// Converts one argument.
  ///
  /// - Throws: As ``ofProcess(reading:_:)``.
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
