#if os(Linux)
  import DownloadStore
  import FaultServer
  import Foundation
  import SystemInterface
  import TestSupport
  import Testing

  @testable import CommandLineSupport
  @testable import DownloadCommands

  /// The notifications that systemd's `Type=notify` waits for.
  @Suite(.timeLimit(.minutes(10)))
  struct ServiceManagerTests {
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
    }

    /// Receives datagrams on a socket in the file system, or in the abstract namespace.
    private final class Receiver: Sendable {
      private let socket: Int32

      init(_ name: String) throws {
        socket = SystemInterface.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        try #require(bytes.count < capacity)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + bytes.count)
        let code = unsafe withUnsafePointer(to: address) { pointer in
          unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(socket, $0, length)
          }
        }
        try #require(code == 0, "bind: \(systemErrorText())")
      }

      deinit {
        close(socket)
      }

      /// Returns the next datagram; `nil` if none has arrived.
      func next() -> String? {
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = unsafe recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
      }
    }

    private func name(isAbstract: Bool) -> String {
      isAbstract ? "@dlstore-test-\(UUID().uuidString)" : folder.path("notify")
    }

    @Test(arguments: [false, true])
    func `run reports that its engine is ready, and that it stops`(isAbstract: Bool) async throws {
      let name = name(isAbstract: isAbstract)
      let receiver = try Receiver(name)
      let process = try DLStoreProcess(
        ["run"],
        store: folder.path("store"),
        in: folder.path,
        environment: ["NOTIFY_SOCKET": name]
      )
      var received: [String] = []
      func wait(for count: Int) async throws {
        try await process.wait {
          // Before the socket is read, so that the last message of a process that ends is read, too.
          let isOver = !process.isRunning
          while received.count < count, let next = receiver.next() { received.append(next) }
          return received.count >= count || isOver
        }
      }
      try await wait(for: 1)
      #expect(received == ["READY=1"])
      process.send(SIGTERM)
      try await wait(for: 2)
      #expect(received == ["READY=1", "STOPPING=1"])
      #expect(try await process.status() == 0, "\(process.messages)")
    }

    @Test func `a service manager that has gone does not disturb an engine`() async throws {
      _ = try RecordStore(at: folder.path("store"))
      let process = try DLStoreProcess(
        ["run", "--until-idle"],
        store: folder.path("store"),
        in: folder.path,
        environment: ["NOTIFY_SOCKET": folder.path("gone")]
      )
      #expect(try await process.status() == 0, "\(process.messages)")
    }

    @Test(arguments: [nil, "", "@", "relative", String(repeating: "/long", count: 40)])
    func `an invalid address is no service manager`(path: String?) {
      #expect(ServiceManager(socketPath: path) == nil)
    }
  }
#endif
