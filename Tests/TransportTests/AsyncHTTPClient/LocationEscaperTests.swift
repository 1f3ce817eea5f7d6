#if AsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
  import TestSupport
  import Testing

  @testable import DownloadAsyncHTTPClient

  /// Locations whose bytes are not UTF-8.
  @Suite(.timeLimit(.minutes(10)))
  struct LocationEscaperTests {
    /// Returns what a scan makes of a head, and whether it is an interim one.
    private func scanned(_ head: [UInt8]) -> (bytes: [UInt8], isInterim: Bool, rest: Int) {
      var scan = HeadScan()
      var bytes: [UInt8] = []
      for (index, byte) in head.enumerated() {
        bytes += scan.escapes(byte) ? HeadScan.escape(byte) : [byte]
        if scan.hasEnded { return (bytes, scan.isInterim, head.count - index - 1) }
      }
      return (bytes, scan.isInterim, -1)
    }

    private func bytes(_ text: String) -> [UInt8] {
      text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    @Test(arguments: [
      ("Location: /r\u{E9}sum\u{E9}", "Location: /r%E9sum%E9"),
      ("lOCATION:\u{C9}\u{CC}?\u{FF}", "lOCATION:%C9%CC?%FF"),
      ("X: \u{E9}", "X: \u{E9}"), ("Content-Location: \u{E9}", "Content-Location: \u{E9}"),
      ("Location : \u{E9}", "Location : \u{E9}"), ("\u{E9}ocation: x", "\u{E9}ocation: x"),
      (" Location: \u{E9}", " Location: \u{E9}"), ("Location:", "Location:"),
    ])
    func `only the bytes of a location are escaped`(_ line: String, _ escaped: String) {
      for end in ["\r\n", "\n"] {
        let start = "HTTP/1.1 302 Found\(end)A: b\(end)"
        let (changed, isInterim, rest) = scanned(
          bytes(start + line + end + "B: \u{E9}" + end + end + "Location: \u{E9}")
        )
        #expect(changed == bytes(start + escaped + end + "B: \u{E9}" + end + end))
        #expect(!isInterim && rest == 11)
      }
    }

    @Test(arguments: [
      ("100 Continue", true), ("103 Early", true), ("101 Switching", false), ("200 OK", false),
      ("302 Found", false), ("1", true), ("", false),
    ])
    func `an interim response is recognized`(_ status: String, _ isInterim: Bool) {
      #expect(scanned(bytes("HTTP/1.1 \(status)\r\n\r\n")).isInterim == isInterim)
    }

    @Test func `a location in Latin-1 is followed, and a body that looks like one is unchanged`()
      async throws
    {
      let server = try FaultServer()
      let body = bytes("Location: \u{E9}\r\n\r\nHTTP/1.1 100 X\r\n\r\nLocation: \u{E9}\r\n\r\n")
      let length = "Content-Length: \(body.count)\r\n\r\n"
      let interim = "HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n"
      let moved = bytes(
        "\(interim)HTTP/1.1 302 F\r\nLocation: /\u{C9}\u{CC}.xls\r\nX: \u{E9}\r\n\(length)"
      )
      server.route("/old", Resource { _ in RawReply(moved + body, ending: .keep) })
      let found = bytes("\(interim)HTTP/1.1 200 OK\r\nX: y\r\n\(length)")
      server.route("*", Resource { _ in RawReply(found + body, ending: .keep) })
      let file = Body.bytes(body)
      let transport = AsyncHTTPClientTransport(idleTimeout: hangLimit)
      for _ in 0..<3 {
        let sink = RecordingSink(expecting: file)
        _ = transport.start(TaskRequest(url: server.url("/old"), recordID: "r"), sink: sink)
        #expect(await sink.outcome() == .completed)
        #expect(sink.record.isIntact && sink.record.byteCount == Int64(body.count))
      }
      #expect(server.requests.map(\.target).suffix(2) == ["/old", "/%C9%CC.xls"])
    }
  }
#endif
