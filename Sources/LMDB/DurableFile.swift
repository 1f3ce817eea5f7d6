internal import SystemInterface

/// System calls that make files and their names durable.
///
/// All of them go through this type, so that a test can observe their order and make one fail.
package enum DurableFile {
  /// A call that ``observer`` sees.
  package enum Call: Sendable, Hashable {
    /// Syncs the contents of a file, or the entries of a folder.
    case sync(String)
    /// Renames a file or folder, replacing an existing file of that name.
    case rename(String, to: String)
    /// Creates a hard link; fails if the name exists.
    case link(String, to: String)
  }

  /// A closure called before each system call that the current task makes through this type.
  ///
  /// It returns the `errno` value with which the call fails, or 0 to let the call proceed.
  @TaskLocal package static var observer: (@Sendable (Call) -> Int32)?

  /// Syncs the contents of an open file.
  ///
  /// Synced on return. The corresponding C function is `fsync`.
  package static func sync(_ descriptor: Int32, at path: String) throws(LMDBError) {
    try perform(.sync(path), "fsync") { fsync(descriptor) }
  }

  /// Syncs the entries of a folder, so that files created or renamed in it keep their names after a
  /// power cut.
  package static func syncFolder(_ folder: String) throws(LMDBError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "open")
    }
    defer { EnvironmentFile.close(descriptor) }
    try sync(descriptor, at: folder)
  }

  /// Renames a file or folder, replacing an existing file of that name.
  ///
  /// Lost on power cut until ``syncFolder(_:)``. The corresponding C function is `rename`.
  package static func rename(_ path: String, to target: String) throws(LMDBError) {
    try perform(.rename(path, to: target), "rename") {
      SystemInterface.rename(path, target)
    }
  }

  /// Creates a hard link; fails with `fileExists` if the name exists.
  ///
  /// Lost on power cut until ``syncFolder(_:)``. The corresponding C function is `link`.
  package static func link(_ path: String, to target: String) throws(LMDBError) {
    try perform(.link(path, to: target), "link") {
      SystemInterface.link(path, target)
    }
  }

  /// Reports a call to the observer, and throws if the observer fails it.
  static func check(_ call: Call, _ operation: String) throws(LMDBError) {
    guard let code = observer?(call), code != 0 else { return }
    throw LMDBError(LMDBError.Code(rawValue: code), operation: operation)
  }

  private static func perform(
    _ call: Call,
    _ operation: String,
    _ body: () -> Int32
  ) throws(LMDBError) {
    try check(call, operation)
    guard body() == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: operation)
    }
  }
}
