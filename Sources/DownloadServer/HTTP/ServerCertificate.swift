#if Server
  internal import Hummingbird
  internal import HummingbirdCore
  internal import HummingbirdTLS
  internal import NIOSSL

  /// The certificate and the key of a server with TLS.
  struct ServerCertificate {
    private let configuration: TLSConfiguration

    /// Reads the files.
    ///
    /// - Throws: ``ServerStartError`` with `invalidCertificate`.
    init(_ files: ServerOptions.TLS) throws(ServerStartError) {
      let chain: [NIOSSLCertificate]
      let key: NIOSSLPrivateKey
      do {
        chain = try NIOSSLCertificate.fromPEMFile(files.certificateFile)
      } catch {
        throw ServerStartError(
          .invalidCertificate,
          "\(files.certificateFile) has no certificate in PEM form"
        )
      }
      do {
        key = try NIOSSLPrivateKey(file: files.keyFile, format: .pem)
      } catch {
        throw ServerStartError(.invalidCertificate, "\(files.keyFile) has no key in PEM form")
      }
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) },
        privateKey: .privateKey(key)
      )
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      self.configuration = configuration
    }

    /// Returns a server over TLS.
    ///
    /// - Throws: ``ServerStartError`` with `invalidCertificate`.
    func wrapping(_ http: HTTPServerBuilder) throws(ServerStartError) -> HTTPServerBuilder {
      do {
        // The context is made again for the server; here it shows whether the key fits.
        _ = try NIOSSLContext(configuration: configuration)
        return try .tls(http, tlsConfiguration: configuration)
      } catch {
        throw ServerStartError(
          .invalidCertificate,
          "the certificate and the key do not belong together"
        )
      }
    }
  }
#endif
