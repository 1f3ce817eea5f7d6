package import DownloadStore
internal import Foundation
internal import RawStructuredFieldValues

extension ResponseHead {
  /// The digest of the whole file that the response states; `nil` if there is none that protects
  /// against a malicious server.
  ///
  /// Taken from `Repr-Digest` (RFC 9530, section 3), otherwise from the older `Digest` (RFC 3230).
  /// Of several, SHA-512 is preferred. `Digest` is only used with status 200, because some servers
  /// compute it from the bytes of a range. `Content-Digest` says nothing about the whole file.
  package var statedDigest: Digest? {
    let digests = reprDigests ?? (status == 200 ? earlierDigests : nil) ?? [:]
    return [Digest.Algorithm.sha512, .sha256].lazy.compactMap { digests[$0] }.first
  }

  /// The digests of `Repr-Digest`; `nil` if the field is missing or is no dictionary.
  private var reprDigests: [Digest.Algorithm: Digest]? {
    guard let value = list("Repr-Digest") else { return nil }
    var parser = StructuredFieldValueParser(Array(value.utf8))
    guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
    var digests: [Digest.Algorithm: Digest] = [:]
    for (name, member) in members {
      guard case .item(let item) = member,
        case .undecodedByteSequence(let base64) = item.rfc9651BareItem
      else { continue }
      note(name, base64, in: &digests)
    }
    return digests
  }

  /// The digests of `Digest`; `nil` if the field is missing.
  private var earlierDigests: [Digest.Algorithm: Digest]? {
    guard let value = list("Digest") else { return nil }
    var digests: [Digest.Algorithm: Digest] = [:]
    for member in value.split(separator: ",") {
      let parts = member.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      note(
        parts[0].trimmingCharacters(in: .whitespaces),
        parts[1].trimmingCharacters(in: .whitespaces),
        in: &digests
      )
    }
    return digests
  }

  private func note(_ name: String, _ base64: String, in digests: inout [Digest.Algorithm: Digest])
  {
    guard let algorithm = Digest.Algorithm(named: name), let bytes = Data(base64Encoded: base64)
    else { return }
    digests[algorithm] = Digest(algorithm, bytes: bytes)
  }
}
