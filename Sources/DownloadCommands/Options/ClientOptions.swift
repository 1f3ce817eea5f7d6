internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadAsyncHTTPClient
internal import DownloadSync
internal import Foundation

/// The HTTP client, and how it reaches servers.
struct ClientOptions: ParsableArguments {
  /// Whether the options have a proxy or certificates, which an engine of another process lacks.
  var isOwn: Bool { !ownNames.isEmpty }

  /// The names of those options that were given.
  var ownNames: [String] {
    [
      proxy.map { _ in "--proxy" }, caCertificate.map { _ in "--ca-certificate" },
      clientCertificate.map { _ in "--client-certificate" },
    ].compactMap(\.self) + addressNames
  }

  /// The names of the options that were given for TLS and addresses, which URLSession lacks.
  private var addressNames: [String] {
    [
      tlsMinimum == .tls12 ? nil : "--tls-min", pinnedKeys.isEmpty ? nil : "--pinned-key",
      ipv4 ? "--ipv4" : nil, ipv6 ? "--ipv6" : nil,
      interface.map { _ in "--interface" }, hostAddresses.isEmpty ? nil : "--resolve",
    ].compactMap(\.self)
  }

  @Option(
    help: ArgumentHelp(
      "Fail an attempt when the server has sent nothing for this time, such as 30s.",
      valueName: "duration"
    )
  )
  var timeout = SpanArgument(.seconds(60))

  @Option(
    help: ArgumentHelp(
      "The proxy, such as http://user:password@host:3128; by default that of the environment.",
      valueName: "url"
    )
  )
  var proxy: String?

  @Option(
    help: ArgumentHelp(
      "A file of PEM certificates to trust instead of the system's.",
      valueName: "file"
    ),
    completion: .file()
  )
  var caCertificate: String?

  @Option(
    help: ArgumentHelp(
      "A PEM file with the certificate of this client, followed by its issuers.",
      valueName: "file"
    ),
    completion: .file()
  )
  var clientCertificate: String?

  @Option(
    help: ArgumentHelp(
      "The PEM file with the client certificate's key; by default that of the certificate.",
      valueName: "file"
    ),
    completion: .file()
  )
  var clientKey: String?

  @Option(
    name: .customLong("tls-min"),
    help: ArgumentHelp("The lowest version of TLS that is accepted.", valueName: "1.2|1.3")
  )
  var tlsMinimum = TLSMinimum.tls12

  @Option(
    name: .customLong("pinned-key"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Accept only servers whose certificate has this public key; repeatable.",
      valueName: "sha256//base64"
    ),
    transform: { text in
      do throws(PinnedKey.ParseError) {
        return try PinnedKey(text)
      } catch {
        throw ValidationError("\(error.message).")
      }
    }
  )
  var pinnedKeys: [PinnedKey] = []

  @Flag(
    name: [.customShort("4"), .customLong("ipv4")],
    inversion: .prefixedNo,
    exclusivity: .chooseLast,
    help: "Connect to IPv4 addresses only."
  )
  var ipv4 = false

  @Flag(
    name: [.customShort("6"), .customLong("ipv6")],
    inversion: .prefixedNo,
    exclusivity: .chooseLast,
    help: "Connect to IPv6 addresses only."
  )
  var ipv6 = false

  @Option(
    help: ArgumentHelp(
      "The address of this machine from which to connect.",
      valueName: "address"
    ),
    transform: { text in
      guard AddressFamily(ofAddress: text) != nil else {
        throw ValidationError("'\(text)' is not an IPv4 or IPv6 address of this machine.")
      }
      return text
    }
  )
  var interface: String?

  @Option(
    name: .customLong("resolve"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Connect to this address instead of those that DNS has for the host; repeatable.",
      valueName: "host:port:address"
    ),
    transform: { text in
      do throws(HostAddress.ParseError) {
        return try HostAddress(text)
      } catch {
        let zone = text.contains("%") ? ": zones, such as %eth0, are not supported" : ""
        throw ValidationError("\(error.message)\(zone).")
      }
    }
  )
  var hostAddresses: [HostAddress] = []

  @Option(help: ArgumentHelp("The HTTP client.", valueName: "name"))
  var transport = TransportChoice.standard

  /// The only family of addresses that the options allow; `nil` for both.
  private var addressFamily: AddressFamily? { ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil }

  /// The files that the options name.
  var certificateFiles: [String] {
    [caCertificate, clientCertificate, clientKey].compactMap(\.self)
  }

  /// Throws if the transport cannot do what the options ask for.
  func validate() throws {
    try transport.validate()
    try timeout.validate("--timeout")
    let proxies = try proxies()
    guard clientKey == nil || clientCertificate != nil else {
      throw ValidationError("--client-key requires --client-certificate.")
    }
    guard !ipv4 || !ipv6 else {
      throw ValidationError("--ipv4 and --ipv6 cannot be combined.")
    }
    if let interface, let addressFamily, AddressFamily(ofAddress: interface) != addressFamily {
      throw ValidationError("--interface \(interface) is not an address of that family.")
    }
    switch transport {
    case .urlSession:
      guard addressNames.isEmpty else {
        throw ValidationError(
          "URLSession has no setting for \(addressNames.joined(separator: ", ")): add --transport "
            + "async-http-client."
        )
      }
      guard clientCertificate == nil, caCertificate == nil else {
        throw ValidationError(
          "URLSession on Linux cannot use certificates from files: add --transport "
            + "async-http-client."
        )
      }
      #if !os(Linux)
        guard proxy == nil else {
          throw ValidationError(
            "URLSession uses the proxies of the system settings: for --proxy, add --transport "
              + "async-http-client."
          )
        }
      #endif
    case .asyncHTTPClient:
      for proxy in [proxies.http, proxies.https].compactMap({ $0 }) {
        guard let obstacle = ProxyObstacle(proxy) else { continue }
        let plain =
          obstacle == .tls ? "give a URL that begins with http:// if the proxy accepts it, or " : ""
        throw ValidationError(
          "async-http-client does not support \(obstacle.text(proxy)): \(plain)add --transport "
            + "urlsession."
        )
      }
    }
  }

  /// Throws if a certificate or a key cannot be used, or if this machine lacks the address of
  /// `--interface`.
  ///
  /// A command calls this before it stores anything: a usage error leaves nothing behind.
  ///
  /// - Throws: ``CommandFailure``.
  func checkFiles() throws { try transport.checkFiles(of: self) }

  /// Throws if URLSession would not use the proxy, which it takes from the environment of its process.
  ///
  /// - Parameter request: What is requested, for the message: `a document`.
  /// - Throws: ``CommandFailure`` with `usage`.
  func requireProxyOfEnvironment(_ request: String) throws(CommandFailure) {
    #if os(Linux)
      let actual = ProcessInfo.processInfo.environment
      guard transport == .urlSession,
        environment.contains(where: { actual[$0] != $1 })
      else { return }
      throw CommandFailure(
        .usage,
        "URLSession takes the proxy of \(request) from the environment: set http_proxy and "
          + "https_proxy, or add --transport async-http-client"
      )
    #endif
  }

  /// Creates the transport.
  ///
  /// - Throws: ``CommandFailure`` if a certificate or a key cannot be read.
  func makeTransport(
    connectionsPerHost: Int,
    bytesPerSecond: Int64? = nil
  ) throws -> any RateLimitedTransport {
    try transport.make(
      connectionsPerHost: connectionsPerHost,
      bytesPerSecond: bytesPerSecond,
      client: self
    )
  }

  /// The settings for a transport.
  ///
  /// - Throws: `ValidationError` for an invalid proxy.
  func settings() throws(ValidationError) -> ConnectionSettings {
    var settings = ConnectionSettings()
    settings.proxies = try proxies()
    settings.certificateAuthorities = caCertificate
    settings.clientCertificate = clientCertificate
    settings.clientKey = clientKey
    settings.minimumTLSVersion = tlsMinimum.version
    settings.pinnedKeys = Set(pinnedKeys)
    settings.addressFamily = addressFamily
    settings.localAddress = interface
    settings.hostAddresses = hostAddresses
    return settings
  }

  /// The proxies of the option, else of the environment.
  private func proxies() throws(ValidationError) -> ProxySettings {
    do throws(ProxyServer.ParseError) {
      return try ProxySettings(
        environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }
      )
    } catch {
      // The user has not set the variable that the option stands for.
      let variable = "http_proxy: "
      let isOption = proxy != nil && error.message.hasPrefix(variable)
      let message =
        isOption ? "--proxy: \(error.message.dropFirst(variable.count))" : error.message
      throw ValidationError("\(message).")
    }
  }

  /// The environment variables with which `--proxy` has its effect in a process.
  ///
  /// libcurl, under URLSession on Linux, knows no other setting.
  var environment: [String: String] {
    guard let proxy else { return [:] }
    return ["http_proxy": proxy, "https_proxy": proxy]
  }
}

/// The values of `--tls-min`.
enum TLSMinimum: String, ExpressibleByArgument, CaseIterable {
  case tls12 = "1.2"
  case tls13 = "1.3"

  /// The version.
  var version: ConnectionSettings.TLSVersion { self == .tls12 ? .tls12 : .tls13 }
}
