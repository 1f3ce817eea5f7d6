import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadMetalink

@Suite struct MetalinkTests {
  private func document(_ files: String, prefix: String = "") -> Data {
    let name = prefix.isEmpty ? "xmlns" : "xmlns:\(prefix)"
    let root = prefix.isEmpty ? "metalink" : "\(prefix):metalink"
    return Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <\(root) \(name)="urn:ietf:params:xml:ns:metalink">
      \(files)
      </\(root)>
      """.utf8
    )
  }

  private func file(_ contents: String, name: String = "a.iso") -> Data {
    document("<file name=\"\(name)\"><url>http://h/a.iso</url>\(contents)</file>")
  }

  /// The example of RFC 5854, section 1.1, with a URL of another scheme, and real digests.
  @Test func `the example of RFC 5854 is read`() throws {
    let sha256 = String(repeating: "3d", count: 32)
    let sha1 = String(repeating: "6a", count: 20)
    let metalink = try Metalink(
      document(
        """
        <published>2009-05-15T12:23:23Z</published>
        <file name="example.ext">
          <size>14471447</size>
          <identity>Example</identity>
          <version>1.0</version>
          <language>en</language>
          <description>A description of the example file for download.</description>
          <hash type="sha-256">\(sha256)</hash>
          <pieces length="10000000" type="sha-1">
            <hash>\(sha1)</hash>
            <hash>\(sha1.uppercased())</hash>
          </pieces>
          <url location="DE" priority="2">http://b.example.com/example.ext</url>
          <url location="fr" priority="1">http://a.example.com/example.ext</url>
          <url>https://c.example.com/example.ext?a=1&amp;b=2</url>
          <url priority="1">ftp://ftp.example.com/example.ext</url>
          <metaurl mediatype="torrent" priority="1">http://example.com/example.ext.torrent</metaurl>
        </file>
        """
      )
    )
    let digest = try Digest("sha1:\(sha1)")
    #expect(
      metalink.files == [
        Metalink.File(
          folder: "",
          name: "example.ext",
          byteCount: 14_471_447,
          digests: [try Digest("sha256:\(sha256)")],
          pieces: Metalink.Pieces(byteCount: 10_000_000, digests: [digest, digest]),
          sources: [
            .init(url: "http://a.example.com/example.ext", priority: 1, location: "fr"),
            .init(url: "http://b.example.com/example.ext", priority: 2, location: "de"),
            .init(
              url: "https://c.example.com/example.ext?a=1&b=2",
              priority: 999_999,
              location: nil
            ),
          ]
        )
      ]
    )
    #expect(metalink.skipped.isEmpty)
  }

  @Test func `a request has the best source as its URL, and the other sources as mirrors`() throws {
    let metalink = try Metalink(
      document(
        """
        <file name="new/a.iso">
          <hash type="md5">\(String(repeating: "0", count: 32))</hash>
          <hash type="sha-512">\(String(repeating: "1", count: 128))</hash>
          <url priority="3" location="de">http://c/a</url>
          <url priority="1">http://a/a</url><url priority="2" location="fr">http://b/a</url>
        </file>
        """
      )
    )
    let request = DownloadRequest(metalink.files[0])
    #expect([request.url] + request.mirrors == ["http://a/a", "http://b/a", "http://c/a"])
    #expect(request.folder == "new" && request.filename == "a.iso")
    #expect(request.digest?.algorithm == .sha512)
    let near = DownloadRequest(metalink.files[0], preferring: ["de", "at"])
    #expect([near.url] + near.mirrors == ["http://c/a", "http://a/a", "http://b/a"])
  }

  @Test func `a prefix of the namespace and elements of other namespaces change nothing`() throws {
    let metalink = try Metalink(
      document(
        """
        <m:file name="a" xmlns:x="urn:x"><x:url>http://no/a</x:url><x:file name="b"/>
        <m:url><![CDATA[ http://h/a?b&c ]]></m:url></m:file>
        """,
        prefix: "m"
      )
    )
    #expect(metalink.files.map(\.sources) == [[.init(url: "http://h/a?b&c", priority: 999_999)]])
  }

  @Test(arguments: [
    "", "text", "<metalink", "<a/>", "<metalink/>", "{}",
    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"/>",
    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"a\"></metalink>",
    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><metalink/></metalink>",
  ])
  func `another document throws`(text: String) {
    let error = #expect(throws: MetalinkError.self) { try Metalink(Data(text.utf8)) }
    #expect(error.map { [.notXML, .notMetalink].contains($0.code) } == true, "\(text)")
  }

  /// Foundation's parser on Linux crashes at a name that is not UTF-8.
  @Test(arguments: [[0xFF], [0xCF], [0xC3], [0xED, 0xA0, 0x80], [0]] as [[UInt8]])
  func `a document that is not UTF-8 throws notXML`(bytes: [UInt8]) {
    for position in ["<file name=\"a", "<file name=\"a\"><x", "<file name=\"a\"><"] {
      let text = document(position)
      let start = text.firstRange(of: Data(position.utf8))!.upperBound
      let damaged = Data(text[..<start]) + bytes + Data("/></file>".utf8) + text[start...]
      let error = #expect(throws: MetalinkError.self) { try Metalink(damaged) }
      #expect(error?.code == .notXML)
    }
  }

  @Test(arguments: ["UTF-16", "ISO-8859-1", "EBCDIC-CP-US"])
  func `a document that declares another encoding throws notXML`(encoding: String) {
    let text = String(decoding: file(""), as: UTF8.self).replacing("UTF-8", with: encoding)
    let error = #expect(throws: MetalinkError.self) { try Metalink(Data(text.utf8)) }
    #expect(error?.code == .notXML)
  }

  @Test(arguments: ["", " version=\"3.0\"", " xmlns=\"urn:ietf:params:xml:ns:metalinks\""])
  func `a document without the namespace says which one is required`(attributes: String) {
    let text = "<metalink\(attributes)><file name=\"a\"><url>http://h/a</url></file></metalink>"
    let error = #expect(throws: MetalinkError.self) { try Metalink(Data(text.utf8)) }
    #expect(error?.code == .notMetalink)
    #expect(error?.message.contains("must be 'urn:ietf:params:xml:ns:metalink' (RFC 5854)") == true)
  }

  @Test func `a document of version 3 throws oldVersion`() {
    let text = "<metalink version=\"3.0\" xmlns=\"http://www.metalinker.org/\"><files/></metalink>"
    let error = #expect(throws: MetalinkError.self) { try Metalink(Data(text.utf8)) }
    #expect(error?.code == .oldVersion)
  }

  @Test(arguments: [
    "/etc/passwd", "../a", "a/../../b", "", ".", "a/", "a\\b", "a&#10;b",
  ])
  func `a file whose name leads out of the folder is skipped`(name: String) throws {
    let metalink = try Metalink(file("", name: name))
    #expect(metalink.files.isEmpty)
    #expect(metalink.skipped.map(\.line) == [3])
  }

  @Test(arguments: [".ssh/authorized_keys", "a/.b/c"])
  func `a file in a hidden folder is skipped, and a hidden file is not`(name: String) throws {
    #expect(try Metalink(file("", name: name)).files.isEmpty)
    #expect(try Metalink(file("", name: "a/.b")).files.map(\.name) == [".b"])
  }

  @Test(arguments: [
    "<size>-1</size>", "<size>many</size>", "<hash type=\"sha-256\">ab</hash>",
    "<hash type=\"md5\">zz</hash>", "<pieces length=\"0\" type=\"md5\"/>", "<pieces type=\"md5\"/>",
    "<pieces length=\"9223372036854775807\" type=\"md5\"/>", "<size>9223372036854775807</size>",
    "<pieces length=\"1\" type=\"sha-1\"><hash>ab</hash></pieces>",
    "<size>3</size><pieces length=\"2\" type=\"md5\"><hash>0123456789abcdef0123456789abcdef</hash></pieces>",
  ])
  func `a file whose description contradicts itself is skipped, and the others are not`(
    contents: String
  ) throws {
    let metalink = try Metalink(
      document(
        """
        <file name="a"><url>http://h/a</url>\(contents)</file>
        <file name="b"><url>http://h/b</url></file>
        """
      )
    )
    #expect(metalink.files.map(\.name) == ["b"])
    #expect(metalink.skipped.map(\.line) == [3])
    #expect(metalink.skipped.first?.reason.isEmpty == false)
  }

  @Test func `a file with two different digests of its strongest algorithm is skipped`() throws {
    let md5 = ["0", "1"].map { "<hash type=\"md5\">\(String(repeating: $0, count: 32))</hash>" }
    let sha1 = "<hash type=\"sha-1\">\(String(repeating: "2", count: 40))</hash>"
    let skipped = try Metalink(file(md5.joined())).skipped
    #expect(skipped.map(\.reason) == ["two different md5 checksums are given for one file"])
    let accepted: [(hashes: [String], algorithm: Digest.Algorithm)] = [
      (md5 + [sha1], .sha1), ([sha1] + md5, .sha1), ([md5[0], md5[0]], .md5),
    ]
    for (hashes, algorithm) in accepted {
      let metalink = try Metalink(file(hashes.joined()))
      #expect(metalink.files.first?.digests.first?.algorithm == algorithm)
    }
  }

  @Test func `digests and pieces of unknown algorithms are ignored`() throws {
    let metalink = try Metalink(
      file(
        """
        <hash type="tiger">00</hash><hash>00</hash>
        <pieces length="5" type="tiger"><hash>00</hash></pieces>
        """
      )
    )
    #expect(metalink.files.map(\.digests) == [[]])
    #expect(metalink.files.map(\.pieces) == [nil])
  }

  @Test func `of several lists of pieces, that with the strongest digests counts`() throws {
    let md5 =
      "<pieces length=\"5\" type=\"md5\"><hash>\(String(repeating: "5", count: 32))</hash></pieces>"
    let sha1 =
      "<pieces length=\"7\" type=\"sha-1\"><hash>\(String(repeating: "1", count: 40))</hash></pieces>"
    for contents in [md5 + sha1, sha1 + md5] {
      #expect(try Metalink(file(contents)).files.map { $0.pieces?.byteCount } == [7])
    }
  }

  @Test func `a URL that a file has twice is one source, with the first priority`() throws {
    let metalink = try Metalink(
      document(
        """
        <file name="a"><url priority="2">http://h/a</url><url>http://i/a</url>
        <url priority="1">http://h/a</url></file>
        """
      )
    )
    #expect(metalink.files.first?.sources.map(\.url) == ["http://h/a", "http://i/a"])
    #expect(metalink.files.first?.sources.map(\.priority) == [2, 999_999])
  }

  @Test func `URLs that differ only in their bytes are different sources`() throws {
    let metalink = try Metalink(
      document("<file name=\"a\"><url>http://h/\u{E9}</url><url>http://h/e\u{301}</url></file>")
    )
    #expect(metalink.files.first?.sources.count == 2)
  }

  @Test func `a file without a usable URL is skipped`() throws {
    let metalink = try Metalink(
      document("<file name=\"a\"><url>ftp://h/a</url><url>a.iso</url><url/></file>")
    )
    #expect(metalink.skipped.map(\.reason) == ["it has no http or https URL"])
  }

  /// The files exist, so a parser that loads them would find text.
  @Test func `external entities are not loaded, and internal ones do not grow without limit`()
    throws
  {
    let folder = try TemporaryFolder()
    let secret = try folder.makeFile("secret", "http://h/secret")
    let entities = (1..<30).map { number in
      "<!ENTITY e\(number) \"\(String(repeating: "&e\(number - 1);", count: 10))\">"
    }
    let text = """
      <!DOCTYPE metalink [<!ENTITY x SYSTEM "file://\(secret)"><!ENTITY e0 "http://h/e">
      \(entities.joined())]>
      <metalink xmlns="urn:ietf:params:xml:ns:metalink">
      <file name="a"><url>&x;</url><url>&e29;</url><url>http://h/a</url></file></metalink>
      """
    let metalink = try? Metalink(Data(text.utf8))
    #expect(metalink?.files.flatMap(\.sources).contains { $0.url.contains("secret") } != true)
  }

  @Test func `without digests an empty file is required to be empty`() throws {
    let document = try Metalink(file("<size>0</size><url>https://h/b</url>"))
    let request = DownloadRequest(try #require(document.files.first))
    #expect(request.pieces == nil)
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    #expect(request.digest?.text == "sha256:\(empty)")
  }

  @Test(arguments: [true, false])
  func `without digests the size of a file is required`(hasDigest: Bool) throws {
    let hash = "<hash type=\"sha-1\">\(String(repeating: "6a", count: 20))</hash>"
    let text = file("<size>20</size>\(hasDigest ? hash : "")<url>https://h/b</url>")
    let request = DownloadRequest(try #require(try Metalink(text).files.first))
    let pieces = RequiredPieces(byteCount: 20, pieceLength: 20, digests: [])
    #expect(request.pieces == (hasDigest ? nil : pieces))
  }

  @Test func `a damaged document never crashes the reader`() throws {
    let sha1 = String(repeating: "6a", count: 20)
    let original = Array(
      file(
        """
        <size>20</size><hash type="sha-1">\(sha1)</hash>
        <pieces length="10" type="sha-1"><hash>\(sha1)</hash><hash>\(sha1)</hash></pieces>
        <url priority="1" location="de">https://h/b?c&amp;d</url>
        """
      )
    )
    var random = SplitMix64(seed: 5_854)
    var readCount = 0
    for _ in 0..<3_000 {
      var bytes = original
      for _ in 0...random.next(upperBound: UInt64(4)) {
        let index = Int(random.next(upperBound: UInt64(bytes.count)))
        switch random.next(upperBound: UInt64(4)) {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.removeSubrange(index..<min(bytes.count, index + 9))
        case 2: bytes.insert(contentsOf: bytes[index...].prefix(40), at: index)
        default: bytes.insert(contentsOf: Array("<>&\"".utf8), at: index)
        }
      }
      guard let metalink = try? Metalink(Data(bytes)) else { continue }
      readCount += 1
      #expect(metalink.files.allSatisfy { !$0.sources.isEmpty && !$0.name.contains("/") })
    }
    #expect(readCount > 100)
  }

  @Test(.timeLimit(.minutes(10))) func `the digests of many pieces take no quadratic time`() throws
  {
    // With quadratic time these would take hours.
    let hash = "<hash>\(String(repeating: "0", count: 40))</hash>"
    let hashes = Array(repeating: hash, count: 150_000).joined()
    let metalink = try Metalink(
      file("<size>150000</size><pieces length=\"1\" type=\"sha-1\">\(hashes)</pieces>")
    )
    #expect(metalink.files.first?.pieces?.digests.count == 150_000)
  }

  @Test func `a document up to the limit is read, and a longer one is too long`() throws {
    let start = "<!--"
    let frame = document("<file name=\"a\"><url>http://h/a</url></file>").count
    func padded(to length: Int) -> Data {
      // Lines, as no text of a document may be longer than the parser's own limit.
      let line = String(repeating: "x", count: 99) + "\n"
      var padding = String(repeating: "\(start)\(line)-->", count: (length - frame) / 107)
      padding += String(repeating: " ", count: length - frame - padding.utf8.count)
      return document("\(padding)<file name=\"a\"><url>http://h/a</url></file>")
    }
    #expect(padded(to: Metalink.longest).count == Metalink.longest)
    #expect(try Metalink(padded(to: Metalink.longest)).files.count == 1)
    let error = #expect(throws: MetalinkError.self) {
      try Metalink(padded(to: Metalink.longest + 1))
    }
    #expect(error?.code == .tooLong && error?.message.contains("10 MB") == true)
  }
}
