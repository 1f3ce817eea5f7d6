#if os(Linux)
  internal import Foundation
  internal import SystemInterface

  /// The service manager that started this program: systemd, by the protocol of `sd_notify`.
  ///
  /// A worker sends the notifications, because the engine runs there, so a unit needs
  /// `NotifyAccess=all`.
  struct ServiceManager: Sendable {
    /// A state that the service manager waits for.
    enum State: String, Sendable {
      /// The engine holds the lock of its store and has started.
      case ready = "READY=1"
      /// A stop was requested, and the engine checkpoints its transfers.
      case stopping = "STOPPING=1"
    }

    /// The service manager of this process; `nil` if none waits for notifications.
    static let current = ServiceManager(
      socketPath: ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]
    )

    private let address: DatagramAddress

    /// Creates the address of a socket; `nil` if the path is missing or invalid.
    ///
    /// - Parameter socketPath: An absolute path, or `@` and the name of an abstract socket.
    init?(socketPath: String?) {
      guard let socketPath, socketPath.hasPrefix("/") || socketPath.hasPrefix("@") else {
        return nil
      }
      var bytes = Array(socketPath.utf8)
      // The kernel marks an abstract name with a null byte.
      if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
      guard let address = DatagramAddress(bytes) else { return nil }
      self.address = address
    }

    /// Sends a state in one datagram.
    ///
    /// A failure is ignored: it changes nothing for the downloads, and systemd has a timeout.
    func notify(_ state: State) {
      address.send(Array(state.rawValue.utf8))
    }
  }
#endif
