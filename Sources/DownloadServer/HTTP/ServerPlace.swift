#if Server
  internal import Hummingbird
  internal import NIOCore
  internal import NIOPosix
  internal import ObjectStore
  internal import SystemInterface

  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif

  /// Where a server accepts connections.
  ///
  /// A socket is made in a folder that only this user can enter, gets its permissions there, and is
  /// then moved to its path, so that no other user can connect before.
  struct ServerPlace: Sendable {
    private let path: String?
    /// The folder in which a socket is made; `nil` for an address.
    private let folder: String?
    let bindAddress: BindAddress

    /// Prepares the place.
    ///
    /// - Throws: ``ServerStartError``.
    init(_ endpoint: ServerOptions.Endpoint) async throws(ServerStartError) {
      switch endpoint {
      case .address(let host, let port):
        path = nil
        folder = nil
        bindAddress = .hostname(host, port: port)
      case .socket(let path):
        if await Self.isListening(path) {
          throw ServerStartError(.inUse, "another process accepts connections at \(path)")
        }
        // A socket that a killed server has left is replaced, and nothing else.
        guard [nil, S_IFSOCK].contains(Self.kind(of: path)) else {
          throw ServerStartError(.cannotListen, "\(path) exists and is not a socket")
        }
        let folder = "\(path).\(UInt32.random(in: 0...UInt32.max))"
        guard folder.utf8.count < 100 else {
          throw ServerStartError(
            .cannotListen,
            "the path of a socket has at most 88 bytes: \(path)"
          )
        }
        guard mkdir(folder, 0o700) == 0 else {
          throw ServerStartError(
            .cannotListen,
            "cannot create a socket at \(path): \(systemErrorText())"
          )
        }
        self.path = path
        self.folder = folder
        bindAddress = .unixDomainSocket(path: "\(folder)/s")
      }
    }

    /// Gives a socket its permissions and its path.
    func publish() {
      guard let path, let folder else { return }
      try? FileManager.default.setAttributes(
        [.posixPermissions: 0o600],
        ofItemAtPath: "\(folder)/s"
      )
      _ = rename("\(folder)/s", path)
      _ = rmdir(folder)
    }

    /// Removes a socket.
    func remove() async {
      guard let path, let folder else { return }
      _ = unlink("\(folder)/s")
      _ = rmdir(folder)
      // Another server may have replaced it.
      if Self.kind(of: path) == S_IFSOCK, await !Self.isListening(path) { _ = unlink(path) }
    }

    /// The kind of a file, links included; `nil` if it is missing.
    private static func kind(of path: String) -> mode_t? {
      var status = stat()
      return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private static func isListening(_ path: String) async -> Bool {
      guard kind(of: path) == S_IFSOCK else { return false }
      let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      guard let channel = try? await client.connect(unixDomainSocketPath: path).get() else {
        return false
      }
      try? await channel.close()
      return true
    }
  }

  extension ServerStartError {
    /// The error of a system call.
    init(_ error: IOError, _ endpoint: ServerOptions.Endpoint) {
      let place =
        switch endpoint {
        case .address(let host, let port): "port \(port) of \(host)"
        case .socket(let path): path
        }
      guard error.errnoCode == EADDRINUSE else {
        self.init(
          .cannotListen,
          "cannot accept connections at \(place): \(systemErrorText(error.errnoCode))"
        )
        return
      }
      self.init(.inUse, "\(place) is in use")
    }

    /// The error of a host name without an address.
    init(_ error: SocketAddressError.UnknownHost) {
      self.init(
        .cannotListen,
        "cannot accept connections at \(error.host): this host name has no address "
          + "(\(error.errorDescription))"
      )
    }
  }
#endif
