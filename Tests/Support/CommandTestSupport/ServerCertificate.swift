internal import Foundation
internal import TestSupport

/// A valid or invalid certificate of a server at `localhost`.
public enum ServerCertificate: String, Sendable, CaseIterable {
  /// Self-signed, also for 127.0.0.1.
  case selfSigned
  /// Issued by the authority, and valid.
  case issued
  /// Issued by the authority, and expired yesterday.
  case expired
  /// Issued by the authority for another host.
  case otherHost
  /// Issued by another authority of the same name.
  case otherAuthority
  /// Issued by an intermediate certificate that must not issue certificates.
  case issuedByServer

  /// Writes `certificate.pem`, `key.pem` and, unless self-signed, `authority.pem`.
  ///
  /// - Throws: ``NginxServer/Failure``, or an error of Foundation.
  func make(in folder: String, _ openssl: String) async throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-euc", Self.functions + script, openssl]
    process.currentDirectoryURL = URL(filePath: folder)
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try await process.runToEnd()
    guard process.terminationStatus == 0 else {
      throw NginxServer.Failure(
        message: "openssl cannot create the \(rawValue) certificate: \(process.terminationStatus)"
      )
    }
  }

  /// `own NAME KEY CERTIFICATE` creates a self-signed certificate.
  ///
  /// `issue NAME HOST DAYS ISSUER` creates one signed with `ISSUER.key`.
  private static let functions = """
    new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
    own() { "$0" req -x509 $new -days 2 -subj "/CN=$1" -keyout "$2" -out "$3" $4; }
    issue() {
      "$0" req $new -subj "/CN=$2" -addext "subjectAltName=DNS:$2" \\
        -addext basicConstraints=critical,CA:FALSE -keyout "$1.key" -out "$1.csr"
      "$0" x509 -req -in "$1.csr" -days "$3" -copy_extensions copy -CAcreateserial \\
        -CA "$4.pem" -CAkey "$4.key" -out "$1.pem"
    }
    serve() { cat "$@" >certificate.pem; mv "${1%.pem}.key" key.pem; }
    [ -z "${1-}" ] || exit 1

    """

  private var script: String {
    let authority = "own authority authority.key authority.pem ''\n"
    return switch self {
    case .selfSigned:
      "own localhost key.pem certificate.pem "
        + "'-addext subjectAltName=DNS:localhost,IP:127.0.0.1'"
    case .issued: authority + "issue server localhost 2 authority; serve server.pem"
    case .expired: authority + "issue server localhost -1 authority; serve server.pem"
    case .otherHost: authority + "issue server example.org 2 authority; serve server.pem"
    case .otherAuthority:
      authority + "own authority other.key other.pem ''\n"
        + "issue server localhost 2 other; serve server.pem"
    case .issuedByServer:
      authority + "issue middle localhost 2 authority\n"
        + "issue server localhost 2 middle; serve server.pem middle.pem"
    }
  }
}
