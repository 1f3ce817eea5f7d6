#if os(Linux)
  import Foundation
  import SystemInterface

  /// A terminal for a process, and the output of the process.
  final class PseudoTerminal: Sendable {
    struct Failure: Error {
      var code = errno
    }

    private let controller: Int32
    private let written = Mutex<[UInt8]>([])
    /// The end that is used for the process's standard descriptors.
    let handle: FileHandle

    init() throws {
      controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
      guard controller >= 0 else { throw Failure() }
      // The calls of `unlockpt` and `ptsname`, which Glibc's module map omits.
      let setLock: UInt = 0x4004_5431
      let getNumber: UInt = 0x8004_5430
      var isLocked: Int32 = 0
      var number: UInt32 = 0
      guard unsafe ioctl(controller, setLock, &isLocked) == 0,
        unsafe ioctl(controller, getNumber, &number) == 0
      else { throw Failure() }
      let descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
      guard descriptor >= 0 else { throw Failure() }
      handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    deinit {
      close(controller)
    }

    /// The output so far, with line feeds as the program wrote them.
    ///
    /// A process that has written more than a few kilobytes blocks until this is read.
    var text: String {
      var part = [UInt8](repeating: 0, count: 65_536)
      return written.withLock { written in
        while true {
          let count = unsafe part.withUnsafeMutableBytes {
            unsafe read(controller, $0.baseAddress, $0.count)
          }
          guard count > 0 else { break }
          written += part[..<count]
        }
        return String(decoding: written, as: UTF8.self).replacing("\r\n", with: "\n")
      }
    }

    /// Types a line.
    func type(_ line: String) {
      press(line + "\n")
    }

    /// Types characters; U+0004 at the beginning of a line is the end of the input.
    func press(_ characters: String) {
      let bytes = Array(characters.utf8)
      _ = unsafe bytes.withUnsafeBytes { unsafe write(controller, $0.baseAddress, $0.count) }
    }
  }
#endif
