// The calls that read, write and change open files. They have the results and the `errno` of the C
// functions, but take arrays and spans, and trap on a range outside them.

/// Reads bytes into a part of an array, which keeps its size; by default into all of it.
package func read(
  _ descriptor: Int32,
  into bytes: inout [UInt8],
  _ part: Range<Int>? = nil
) -> Int {
  let part = part ?? bytes.indices
  return unsafe bytes.withUnsafeMutableBytes { buffer in
    let buffer = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[part])
    return unsafe read(descriptor, buffer.baseAddress, buffer.count)
  }
}

/// Reads bytes at an offset of the file into a part of an array, which keeps its size; by default
/// into all of it.
package func pread(
  _ descriptor: Int32,
  into bytes: inout [UInt8],
  _ part: Range<Int>? = nil,
  at offset: Int64
) -> Int {
  let part = part ?? bytes.indices
  return unsafe bytes.withUnsafeMutableBytes { buffer in
    let buffer = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[part])
    return unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
  }
}

/// Returns the bytes at an offset of a file; fewer at its end, and after an error.
///
/// Does not initialize the memory first, unlike ``pread(_:into:_:at:)``.
package func bytes(ofFile descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
  unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    while filled < count, let base = buffer.baseAddress {
      let free = count - filled
      let got = unsafe pread(descriptor, base + filled, free, off_t(offset + filled))
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { return }
      filled += got
    }
  }
}

package func write(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Int {
  unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
}

/// Writes a text that is a part of the program; async-signal-safe.
@discardableResult
package func write(_ descriptor: Int32, _ text: StaticString) -> Int {
  unsafe write(descriptor, text.utf8Start, text.utf8CodeUnitCount)
}

package func pwrite(_ descriptor: Int32, _ bytes: Span<UInt8>, at offset: Int64) -> Int {
  unsafe bytes.withUnsafeBytes {
    unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
  }
}

/// Writes a number in the byte order of the machine.
package func pwrite(_ descriptor: Int32, _ number: UInt64, at offset: Int64) -> Int {
  unsafe withUnsafeBytes(of: number) {
    unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
  }
}

/// Makes a range of a file share its blocks with the same range of another file of the file system,
/// where this is possible; returns -1 and `errno` if it is not.
///
/// The corresponding C function is `ioctl` with `FICLONERANGE`.
package func cloneRange(
  from source: Int32,
  to target: Int32,
  at offset: Int64,
  byteCount: Int
) -> Int32 {
  #if os(Linux)
    // The descriptor of the source, the offset and the length there, and the offset in the target.
    var arguments = [Int64(source), offset, Int64(byteCount), offset]
    let request: UInt = 0x4020_940D
    return unsafe arguments.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return -1 }
      return unsafe ioctl(target, request, base)
    }
  #else
    errno = ENOTSUP
    return -1
  #endif
}

/// Waits until one descriptor has an event, at most some milliseconds; -1 waits without a limit.
package func poll(_ descriptor: inout pollfd, _ milliseconds: Int32) -> Int32 {
  unsafe poll(&descriptor, 1, milliseconds)
}

/// Takes, releases or queries a lock on a range of a file.
package func fcntl(_ descriptor: Int32, _ operation: Int32, _ lock: inout flock) -> Int32 {
  unsafe withUnsafeMutablePointer(to: &lock) { unsafe fcntl(descriptor, operation, $0) }
}

/// Releases the lock (`flock`) that an open file has, if any, and closes it.
///
/// `close` alone releases the lock only when no other process has the descriptor, and a child that is
/// between `fork` and `exec` still has it.
package func unlockAndClose(_ descriptor: Int32) {
  flock(descriptor, LOCK_UN)
  close(descriptor)
}

/// Sets the time of the last access and that of the last change.
package func futimens(_ descriptor: Int32, access: timespec, change: timespec) -> Int32 {
  unsafe [access, change].withUnsafeBufferPointer { unsafe futimens(descriptor, $0.baseAddress) }
}

/// Returns the size of a terminal; `nil` if the descriptor is not one.
///
/// The corresponding C function is `ioctl` with `TIOCGWINSZ`.
package func terminalSize(_ descriptor: Int32) -> winsize? {
  var size = winsize()
  return unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
}

/// Returns whether the system can currently map some bytes of a file.
package func canMap(_ descriptor: Int32, byteCount: Int) -> Bool {
  let address = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0)
  guard let address = unsafe address, unsafe address != MAP_FAILED else { return false }
  unsafe munmap(address, byteCount)
  return true
}

#if canImport(Darwin)
  /// Reserves space at the end of a file; returns -1 and `errno` if that fails.
  ///
  /// The corresponding C function is `fcntl` with `F_PREALLOCATE`.
  package func preallocate(_ descriptor: Int32, byteCount: Int64) -> Int32 {
    var store = fstore_t(
      fst_flags: UInt32(F_ALLOCATEALL),
      fst_posmode: F_PEOFPOSMODE,
      fst_offset: 0,
      fst_length: off_t(byteCount),
      fst_bytesalloc: 0
    )
    return unsafe fcntl(descriptor, F_PREALLOCATE, &store)
  }
#elseif os(Linux)
  /// Begins to watch a file for changes of its contents.
  ///
  /// The corresponding C function is `inotify_add_watch` with `IN_MODIFY`.
  package func watchContents(_ descriptor: Int32, ofFile path: String) -> Int32 {
    unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY))
  }

  /// Begins to watch a file for changes of its contents, and for the end of a process that may write
  /// to it.
  ///
  /// The corresponding C function is `inotify_add_watch` with `IN_MODIFY` and `IN_CLOSE_WRITE`.
  package func watchClosing(_ descriptor: Int32, ofFile path: String) -> Int32 {
    unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE))
  }
#endif

/// The two ends of a pipe.
package struct DescriptorPipe {
  package let reading: Int32
  package let writing: Int32

  /// Creates a pipe whose ends `exec` closes; `nil` and `errno` if that fails.
  package init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }
}

#if os(Linux)
  /// The address of a datagram socket in the file system, or of an abstract one.
  package struct DatagramAddress: Sendable {
    private let address: sockaddr_un
    private let length: socklen_t

    /// Creates the address of a path; `nil` if it is too long.
    ///
    /// - Parameter path: The bytes of the path; those of an abstract address begin with a null byte.
    package init?(_ path: [UInt8]) {
      var address = sockaddr_un()
      let capacity = MemoryLayout.size(ofValue: address.sun_path)
      guard path.count > 1, path.count < capacity else { return nil }
      address.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
      self.address = address
      length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + path.count)
    }

    /// Sends one datagram; returns -1 and `errno` if that fails.
    @discardableResult
    package func send(_ message: [UInt8]) -> Int {
      let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard socket >= 0 else { return -1 }
      defer { close(socket) }
      return unsafe withUnsafePointer(to: address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe sendto(socket, message, message.count, Int32(MSG_NOSIGNAL), address, length)
        }
      }
    }
  }
#endif
