import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite(.timeLimit(.minutes(10))) struct FileDescriptorTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  #if os(Linux)
    /// Returns the open descriptors of this process that refer to files in a folder.
    private static func descriptors(below folder: String) throws -> [Int32] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        .compactMap { Int32($0) }
        .filter { descriptor in
          let target = try? FileManager.default
            .destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
          return target?.hasPrefix(folder) == true
        }
    }

    @Test(arguments: [false, true])
    func `a child process does not inherit the descriptors of an environment`(
      isReadOnly: Bool
    ) throws {
      do { _ = try Environment.open(folder.path) }
      let options = EnvironmentOptions(isReadOnly: isReadOnly)
      let environment = try Environment.open(folder.path, options: options)
      let open = try Self.descriptors(below: folder.path)
      #expect(open.count == (isReadOnly ? 3 : 4))
      for descriptor in open {
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "descriptor \(descriptor)")
      }
      _ = try environment.lastTransactionID()
    }

    /// If `data.mdb` had descriptor 1 or 2, the output of the program would overwrite it.
    @Test(arguments: [[0], [1], [2], [0, 1, 2]])
    func `an environment never uses the standard descriptors, even if they are closed`(
      closed: [Int]
    ) async throws {
      await #expect(processExitsWith: .success) {
        [path = folder.path as String, closed = closed as [Int]] in
        for descriptor in closed { close(Int32(descriptor)) }
        let environment = try Environment.open(path)
        let database = try environment.database("strings")
        let open = try Self.descriptors(below: path)
        #expect(open.count == 4, "\(open)")
        #expect(open.allSatisfy { $0 > 2 }, "\(open)")
        // The environment leaves them closed. The runtime may open an event queue at any time, which
        // gets the lowest number and refuses a single byte with EINVAL.
        for descriptor in closed {
          var byte: UInt8 = 0
          let count =
            unsafe descriptor == 0
            ? read(Int32(descriptor), &byte, 1) : write(Int32(descriptor), &byte, 1)
          // The expectations may change it.
          let code = errno
          #expect(count == -1, "descriptor \(descriptor) is open")
          #expect([EBADF, EINVAL].contains(code), "descriptor \(descriptor): \(code)")
        }
        try environment.write { try $0.put("text", for: "a", in: database) }
      }
    }
  #endif
}
