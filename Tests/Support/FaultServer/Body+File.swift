internal import SystemInterface

extension Body {
  private static let blockSize = 1 << 20

  /// Returns whether the file at `path` holds exactly this body; false if it cannot be read.
  ///
  /// The file is compared block by block, in constant memory.
  public func matches(file path: String) -> Bool {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    var offset: Int64 = 0
    while true {
      let count = unsafe block.withUnsafeMutableBytes {
        unsafe read(file, $0.baseAddress, $0.count)
      }
      guard count >= 0 else { return false }
      guard count > 0 else { return offset == byteCount }
      guard matches(block.span.extracting(0..<count), at: offset) else { return false }
      offset += Int64(count)
    }
  }

  /// Writes the body to a file, replacing an existing one.
  ///
  /// Not synced.
  ///
  /// - Throws: ``SocketError`` with the name of the call that failed.
  public func write(toFile path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw SocketError(call: "open \(path)", code: errno) }
    defer { close(file) }
    var offset: Int64 = 0
    while offset < byteCount {
      let block = bytes(at: offset, count: Self.blockSize)
      var written = 0
      while written < block.count {
        let count = unsafe block.withUnsafeBytes { buffer in
          let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
          return unsafe writeBytes(file, rest)
        }
        guard count > 0 else { throw SocketError(call: "write \(path)", code: errno) }
        written += count
      }
      offset += Int64(block.count)
    }
  }
}

/// The C function under a name that the method above does not hide.
private func writeBytes(_ file: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(file, bytes.baseAddress, bytes.count)
}
