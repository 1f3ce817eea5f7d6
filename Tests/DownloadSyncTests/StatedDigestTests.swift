import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

@Suite struct StatedDigestTests {
  private static let sha256 = Data(repeating: 0xAB, count: 32)
  private static let sha512 = Data(repeating: 0xCD, count: 64)

  private func digest(_ status: Int, _ fields: (String, String)...) -> String? {
    let fields = fields.map { HeaderField(name: $0.0, value: $0.1) }
    return ResponseHead(status: status, fields: fields).statedDigest?.text
  }

  private func text(_ algorithm: String, _ byte: String, _ count: Int) -> String {
    "\(algorithm):" + String(repeating: byte, count: count)
  }

  @Test func `the strongest digest of Repr-Digest is used, also in a partial response`() {
    let first = "sha-256=:\(Self.sha256.base64EncodedString()):"
    let second = "sha-512=:\(Self.sha512.base64EncodedString()):;x=1"
    for status in [200, 206] {
      #expect(digest(status, ("Repr-Digest", first)) == text("sha256", "ab", 32))
      #expect(digest(status, ("repr-digest", "\(first), \(second)")) == text("sha512", "cd", 64))
      #expect(
        digest(status, ("Repr-Digest", first), ("Repr-Digest", second)) == text("sha512", "cd", 64)
      )
    }
  }

  @Test func `the older field is used with status 200 only`() {
    let value = "MD5=AAAA, SHA-256=\(Self.sha256.base64EncodedString())"
    #expect(digest(200, ("Digest", value)) == text("sha256", "ab", 32))
    #expect(digest(206, ("Digest", value)) == nil)
  }

  @Test(
    arguments: [
      "", "sha-256", "sha-256=:AAAA:", "sha-256=AAAA", "sha-256=\"AAAA\"", "sha-256=:!:",
      "md5=:AAAAAAAAAAAAAAAAAAAAAA==:", "sha=:AAAA:", "unknown=:AAAA:", "sha-256=(:AAAA:)", "=",
      "sha-256=:", ",", "SHA-256=:AAAA:",
    ]
  )
  func `any other value states no digest`(value: String) {
    #expect(digest(200, ("Repr-Digest", value)) == nil)
    #expect(digest(200, ("Digest", value)) == nil)
  }

  @Test func `the digest of the content says nothing about the file`() {
    #expect(
      digest(200, ("Content-Digest", "sha-256=:\(Self.sha256.base64EncodedString()):")) == nil
    )
  }
}
