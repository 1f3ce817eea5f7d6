import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct StoredCodingTests {
  private func isStored(
    _ coding: String,
    _ names: [String],
    type: String? = nil,
    disposition: String? = nil,
    hasDigest: Bool = false,
    isDecoded: Bool = false
  ) -> Bool {
    var head = ResponseHead(
      status: 200,
      fields: [HeaderField(name: "content-encoding", value: coding)]
    )
    if let type { head.fields.append(HeaderField(name: "Content-Type", value: type)) }
    if let disposition {
      head.fields.append(HeaderField(name: "Content-Disposition", value: disposition))
    }
    head.isDecoded = isDecoded
    let result = StoredCoding(names: names, hasDigest: hasDigest).removed(from: head)
    #expect(result.contentCoding == nil || result == head)
    return result.contentCoding == nil
  }

  @Test(arguments: [
    ("gzip", "https://h/a.tar.gz"), ("x-gzip", "https://h/a.tgz?x=1#y"), ("GZIP", "a.GZ"),
    ("gzip", "https://h/a.svgz"), ("br", "https://h/a.js.br"), ("zstd", "a.tar.zst"),
    ("compress", "a.tar.Z"), ("x-bzip2", "a.tar.bz2"), (" gzip ", "https://h/%61.tar%2Egz"),
    ("identity", "https://h/a.bin"),
  ])
  func `a file whose name is that of the coding is the coded form`(coding: String, name: String) {
    #expect(isStored(coding, [name]))
    #expect(isStored(coding, ["https://h/x", name]))
  }

  @Test(arguments: [
    ("gzip", "https://h/a.tar"), ("gzip", "https://h/a.zst"), ("gzip", "https://h/gz"),
    ("gzip", "https://h/?f=a.gz"), ("br", "a.gz"), ("gzip, gzip", "a.gz"), ("deflate", "a.gz"),
    ("unknown", "a.unknown"), ("gzip", "https://h.gz/"), ("gzip", "a.gz/b"),
  ])
  func `any other file is not`(coding: String, name: String) {
    #expect(!isStored(coding, [name]))
    // The digest of the bytes decides.
    #expect(isStored(coding, [name], hasDigest: true))
  }

  @Test func `the type and the server's name say so, too`() {
    #expect(isStored("gzip", ["https://h/1"], type: "application/x-gzip; charset=x"))
    #expect(!isStored("gzip", ["https://h/1"], type: "application/x-tar"))
    #expect(!isStored("br", ["https://h/1"], type: "application/gzip"))
    #expect(isStored("gzip", ["https://h/1"], disposition: "attachment; filename=a.tar.gz"))
    #expect(!isStored("gzip", ["https://h/1"], disposition: "attachment; filename=a.tar"))
  }

  @Test func `a transport that decodes the body has not the coded form`() {
    #expect(!isStored("gzip", ["https://h/a.gz"], isDecoded: true))
    #expect(!isStored("gzip", ["https://h/a.gz"], hasDigest: true, isDecoded: true))
  }
}
