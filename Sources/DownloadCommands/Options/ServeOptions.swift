internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadServer
internal import Foundation
internal import SystemInterface

/// Where `serve` can be reached, by whom, and what they may do.
struct ServeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The address to accept connections at; other machines need --token-file, and --certificate or "
        + "--insecure.",
      valueName: "address[:port]"
    ),
    transform: { text in
      guard let address = ListenAddress(text) else {
        throw ValidationError("'\(text)' is not an address: write ADDRESS, or ADDRESS:PORT.")
      }
      return address
    }
  )
  var listen: ListenAddress?

  @Option(
    help: ArgumentHelp("The port; 0 for a free one. Default: \(ServerOptions.standardPort)."),
    transform: { try WholeNumber.parse($0) }
  )
  var port: UInt16?

  @Option(
    help: ArgumentHelp(
      "Accept connections at a Unix socket instead, which only this user may use.",
      valueName: "path"
    ),
    completion: .file()
  )
  var socket: String?

  @Option(
    name: .customLong("host-name"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "A name by which clients call the server, such as that of a proxy; repeatable.",
      valueName: "name"
    )
  )
  var hostNames: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file with the token, which only this user can read; created with a new one if it is missing.",
      valueName: "file"
    ),
    completion: .file()
  )
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "A PEM file with the certificate of the server, followed by its issuers.",
      valueName: "file"
    ),
    completion: .file()
  )
  var certificate: String?

  @Option(
    help: ArgumentHelp("The PEM file with the certificate's key.", valueName: "file"),
    completion: .file()
  )
  var key: String?

  @Flag(help: "Let other machines connect without TLS: their requests and the token can be read.")
  var insecure = false

  @Flag(help: "Let clients change the store: add downloads, and pause, cancel or remove them.")
  var allowChanges = false

  @Option(
    name: .customLong("rpc-origin"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "A site whose pages may call aria2's JSON-RPC, such as https://ariang.example.com; repeatable.",
      valueName: "url"
    )
  )
  var rpcOrigins: [String] = []

  func validate() throws {
    guard socket == nil || listen == nil && port == nil else {
      throw ValidationError("--socket cannot be combined with --listen or --port.")
    }
    guard listen?.port == nil || port == nil else {
      throw ValidationError("--listen has a port already: leave --port out.")
    }
    guard (certificate == nil) == (key == nil) else {
      throw ValidationError("--certificate and --key must be given together.")
    }
    guard socket == nil || certificate == nil else {
      throw ValidationError("--socket needs no --certificate: no network is between.")
    }
    guard socket?.isEmpty != true else {
      throw ValidationError("--socket requires a path.")
    }
    guard let listen, !listen.isLoopback else { return }
    guard tokenFile != nil else {
      throw ValidationError(
        "--listen \(listen.host) lets other machines connect: it requires --token-file."
      )
    }
    guard certificate != nil || insecure else {
      throw ValidationError(
        "--listen \(listen.host) lets other machines connect: it requires --certificate and --key, or "
          + "--insecure."
      )
    }
  }

  /// Returns the token of clients: that of the file, or a new one; `nil` for a socket without a file.
  ///
  /// - Throws: ``CommandFailure``.
  func token() throws -> String? {
    if let tokenFile { return try TokenFile.read(Folder.absolutePath(tokenFile)) }
    return socket == nil ? AccessToken().text : nil
  }

  /// Returns the options of the server.
  ///
  /// - Parameter token: The token of clients; `nil` for a socket without one.
  /// - Returns: The options.
  /// - Throws: ``CommandFailure`` if the certificate or the key cannot be read: the library does not
  ///   say why.
  func options(token: String?) throws(CommandFailure) -> ServerOptions {
    var options = ServerOptions()
    options.token = token.flatMap { AccessToken($0) }
    options.allowsChanges = allowChanges
    options.rpcOrigins = Set(rpcOrigins.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
    if let certificate, let key {
      for file in [certificate, key] { try InputPath.requireReadable(file) }
      options.tls = .init(certificateFile: certificate, keyFile: key)
    }
    if let socket {
      options.endpoint = .socket(Folder.absolutePath(socket))
      options.hosts = nil
      return options
    }
    let host = listen?.host ?? "127.0.0.1"
    let number = listen?.port ?? port.map(Int.init) ?? ServerOptions.standardPort
    options.endpoint = .address(host, port: number)
    let isLoopback = listen?.isLoopback ?? true
    let ownNames = isLoopback ? [] : [host, ProcessInfo.processInfo.hostName]
    options.hosts = HostRule(isLoopbackOnly: isLoopback, names: Set(hostNames + ownNames))
    return options
  }
}

/// An address and a port to accept connections at.
struct ListenAddress: Sendable, Hashable {
  /// The address without brackets, or a name.
  var host: String
  /// The port; `nil` if the text has none.
  var port: Int?

  /// Parses `ADDRESS`, `ADDRESS:PORT`, `[ADDRESS]:PORT` or an IPv6 address; `nil` for anything else.
  init?(_ text: String) {
    let isBare = text.filter { $0 == ":" }.count > 1 && !text.hasPrefix("[")
    var rest = text[...]
    if !isBare, let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
      guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
      port = Int(number)
      rest = text[..<colon]
    }
    if rest.hasPrefix("["), rest.hasSuffix("]") { rest = rest.dropFirst().dropLast() }
    let isValid = rest.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: ".:-_%".utf8.contains(byte)
      }
    }
    guard !rest.isEmpty, isValid else { return nil }
    host = String(rest)
  }

  /// Whether only this machine can connect.
  var isLoopback: Bool { host == "localhost" || HostRule.isLoopback(host.lowercased()) == true }
}

/// A file with the token of a server.
enum TokenFile {
  private static let maximumByteCount = 4096

  /// Reads a token; creates a missing file with a new one.
  ///
  /// - Throws: ``CommandFailure`` with `permissionDenied` if other users can read or write the file, or
  ///   it belongs to another user; with `usage` if it has no token.
  static func read(_ path: String) throws -> String {
    if access(path, F_OK) != 0, errno == ENOENT {
      let token = AccessToken().text
      try ResumeDataFile.write(Array("\(token)\n".utf8), to: path)
      return token
    }
    let descriptor = try InputPath.open(path, flags: O_NONBLOCK)
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.usage, "\(path) is not a regular file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw CommandFailure(.permissionDenied, "\(path) belongs to another user")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        .permissionDenied,
        "other users can use the token in \(path): remove that with chmod 600"
      )
    }
    let bytes = bytes(ofFile: descriptor, at: 0, count: maximumByteCount)
    guard let token = AccessToken(String(decoding: bytes, as: UTF8.self)) else {
      throw CommandFailure(
        .usage,
        "\(path) has no token: write 16 letters and digits or more, or delete the file to get a new one"
      )
    }
    return token.text
  }
}
