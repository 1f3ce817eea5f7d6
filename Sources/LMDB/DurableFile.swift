#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The system calls that make files and their names durable.
///
/// They are in one place so that a test can observe their order and make one of them fail.
package enum DurableFile {
  /// One of the calls.
  package enum Call: Sendable, Hashable {
    /// Makes the contents of a file, or the names in a folder, durable.
    case sync(String)
    /// Gives a file or folder another name, and replaces a file of that name.
    case rename(String, to: String)
    /// Gives a file a second name, and replaces nothing.
    case link(String, to: String)
  }

  /// Called before each call of the current task; the call fails with the `errno` value that it
  /// returns, unless that is 0.
  @TaskLocal package static var observer: (@Sendable (Call) -> Int32)?

  /// Makes the contents of an open file durable.
  ///
  /// The corresponding C function is `fsync`.
  package static func sync(_ descriptor: Int32, at path: String) throws(LMDBError) {
    try perform(.sync(path), "fsync") { fsync(descriptor) }
  }

  /// Makes the names in a folder durable.
  package static func syncFolder(_ folder: String) throws(LMDBError) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "open")
    }
    defer { EnvironmentFile.close(descriptor) }
    try sync(descriptor, at: folder)
  }

  /// Gives a file or folder another name, and replaces a file of that name.
  ///
  /// The corresponding C function is `rename`.
  package static func rename(_ path: String, to target: String) throws(LMDBError) {
    try perform(.rename(path, to: target), "rename") {
      #if canImport(Darwin)
        unsafe Darwin.rename(path, target)
      #elseif canImport(Musl)
        unsafe Musl.rename(path, target)
      #else
        unsafe Glibc.rename(path, target)
      #endif
    }
  }

  /// Gives a file a second name, and replaces nothing.
  ///
  /// The corresponding C function is `link`.
  package static func link(_ path: String, to target: String) throws(LMDBError) {
    try perform(.link(path, to: target), "link") {
      #if canImport(Darwin)
        unsafe Darwin.link(path, target)
      #elseif canImport(Musl)
        unsafe Musl.link(path, target)
      #else
        unsafe Glibc.link(path, target)
      #endif
    }
  }

  /// Lets the observer see a call, and fail it.
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
