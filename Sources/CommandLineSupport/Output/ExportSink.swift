internal import ObjectStore

/// The destination of an export: a new file, or standard output.
package final class ExportSink {
  private let file: OutputFile?
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 16

  /// - Throws: ``StoreError`` if the file cannot be created; ``CommandFailure`` with `cannotCreate`
  ///   if its folder is missing.
  package init(_ path: String?) throws {
    do {
      file = try path == "-" ? nil : path.map { try OutputFile($0) }
    } catch let error as StoreError where error.code == .notFound {
      // That would be taken for a missing store.
      throw CommandFailure(.cannotCreate, "\(path ?? "") cannot be created: its folder is missing")
    }
  }

  /// Appends bytes.
  ///
  /// - Throws: ``StoreError``, ``CommandFailure`` or ``ClosedPipe``.
  package func write(_ bytes: [UInt8]) throws {
    if let file { return try file.write(bytes) }
    buffer += bytes
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Writes what is left, and makes a file appear under its name.
  ///
  /// - Throws: As ``write(_:)``.
  package func finish() throws {
    guard let file else { return try flush() }
    try file.finish()
  }

  private func flush() throws {
    try Output.current.write(buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}
