#if AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import NIOCore
  internal import NIOSSL

  /// A certificate whose key is none of the pinned ones.
  struct UnpinnedKey: Error {
    var key: PinnedKey
  }

  /// Compares the key of a server with the pinned keys, after TLS has accepted its certificate.
  ///
  /// NIOSSL has a callback for this, but AsyncHTTPClient creates its TLS handler without one. It runs an
  /// initializer on each new connection, which receives requests only if that succeeds. So no byte of a
  /// request is sent to another server (decision 0114).
  struct KeyCheck: Sendable {
    /// Empty for any key.
    let keys: Set<PinnedKey>

    /// Fails the result if the connection speaks TLS with another key.
    @Sendable
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
      guard !keys.isEmpty else { return channel.eventLoop.makeSucceededVoidFuture() }
      return channel.eventLoop.submit { try requirePinnedKey(of: channel) }
    }

    private func requirePinnedKey(of channel: any Channel) throws {
      let pipeline = channel.pipeline.syncOperations
      // A connection without TLS has no certificate.
      guard (try? pipeline.context(handlerType: NIOSSLHandler.self)) != nil else { return }
      guard let certificate = try pipeline.nioSSL_peerCertificate() else {
        throw NIOSSLError.noCertificateToValidate
      }
      let key = PinnedKey(Self.digest(of: try certificate.extractPublicKey().toSPKIBytes()))
      guard keys.contains(key) else {
        channel.close(promise: nil)
        throw UnpinnedKey(key: key)
      }
    }

    private static func digest(of key: [UInt8]) -> Digest {
      var hasher = DigestHasher(.sha256)
      hasher.update(key.span)
      return hasher.digest
    }
  }
#endif
