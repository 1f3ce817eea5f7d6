package import DownloadStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A public key that the certificate of a server may have, by its SHA-256 digest.
///
/// ```swift
/// var connection = ConnectionSettings()
/// connection.pinnedKeys = [try PinnedKey("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
/// ```
///
/// The digest is that of the `SubjectPublicKeyInfo` of the certificate (RFC 7469, 2.4), as in curl's
/// `--pinnedpubkey`:
///
/// ```sh
/// openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der |
///   openssl dgst -sha256 -binary | base64
/// ```
public struct PinnedKey: Sendable, Hashable {
  /// The reason why a text is none.
  public struct ParseError: Error, Sendable, Hashable {
    /// What is wrong, without a full stop.
    public var message: String
  }

  /// The digest of the key.
  package let digest: Digest

  /// Parses `sha256//` and the digest in Base64.
  ///
  /// - Throws: ``ParseError``.
  public init(_ text: String) throws(ParseError) {
    let prefix = "sha256//"
    guard text.hasPrefix(prefix),
      let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count))),
      let digest = Digest(.sha256, bytes: bytes)
    else { throw ParseError(message: "'\(text)' is not sha256// and 32 bytes in Base64") }
    self.digest = digest
  }

  /// The key with this SHA-256 digest.
  package init(_ digest: Digest) { self.digest = digest }

  /// The text from which the key is parsed.
  package var text: String { "sha256//\(Data(digest.bytes).base64EncodedString())" }
}
