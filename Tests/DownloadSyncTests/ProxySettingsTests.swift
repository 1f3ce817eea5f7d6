import Foundation
import Testing

@testable import DownloadSync

@Suite struct ProxySettingsTests {
  private func server(_ url: String, _ environment: [String: String]) throws -> String? {
    try ProxySettings(environment: environment).server(for: url)?.description
  }

  @Test func `the scheme of the URL chooses the variable`() throws {
    let environment = [
      "http_proxy": "one:1", "HTTPS_PROXY": "http://two:2", "all_proxy": "socks5://three:3",
    ]
    #expect(try server("http://h/", environment) == "http://one:1")
    #expect(try server("https://h/", environment) == "http://two:2")
    let other = ["ALL_PROXY": "socks5h://[::1]", "https_proxy": ""]
    #expect(try server("http://h/", other) == "socks5h://[::1]:1080")
    #expect(try server("https://h/", other) == "socks5h://[::1]:1080")
    #expect(try server("http://h/", [:]) == nil)
  }

  @Test func `lower-case names win, and HTTP_PROXY is ignored`() throws {
    let environment = [
      "HTTP_PROXY": "http://evil:1", "https_proxy": "http://lower:1",
      "HTTPS_PROXY": "http://upper:1",
    ]
    #expect(try server("http://h/", environment) == nil)
    #expect(try server("https://h/", environment) == "http://lower:1")
  }

  @Test(
    arguments: [
      ("example.com", true), ("www.example.com", true), ("EXAMPLE.com.", true),
      ("notexample.com", false), ("127.0.0.1", true), ("127.0.0.11", false), ("[::1]", true),
      ("local.test", true), ("other.org", false),
    ]
  )
  func `no_proxy names hosts with their subdomains, and addresses`(
    host: String,
    isDirect: Bool
  ) throws {
    let environment = [
      "http_proxy": "p:1", "no_proxy": " .example.com, 127.0.0.1,::1 ,,local.test",
    ]
    #expect(try (server("http://\(host)/", environment) == nil) == isDirect)
    #expect(try server("http://\(host)/", ["http_proxy": "p:1", "NO_PROXY": "*"]) == nil)
  }

  @Test func `the host is the one that a request is sent to`() throws {
    let environment = ["http_proxy": "p:1", "no_proxy": "example.com,xn--bcher-kva.test"]
    // Each of these is a URL that the transports send, and that another parser reads differently.
    #expect(try server("http://example.com/a b|%zz", environment) == nil)
    #expect(try server("http://b\u{FC}cher.test/", environment) == nil)
    #expect(try server("http://user@example.com:80/", environment) == nil)
    #expect(try server("HTTP://other.org/a b", environment) == "http://p:1")
    #expect(try server("ftp://other.org/", environment) == nil)
    #expect(try server("other.org", environment) == nil)
  }

  @Test func `credentials are decoded and not shown`() throws {
    let server = try ProxyServer("http://m%40e:s%3Acret@proxy:3128/")
    #expect(server.user == "m@e" && server.password == "s:cret")
    #expect(server.host == "proxy" && server.port == 3128)
    #expect("\(server)" == "http://•••@proxy:3128")
    #expect(try ProxyServer("https://h").port == 443)
  }

  @Test(
    arguments: [
      "", "http://", "ftp://u:secret@h:1", "http://u:secret@h:99999", "http://u:secret@h/path",
      "socks4://u:secret@h", "http://u:secret@h?q", "http://u:secret@ h",
    ]
  )
  func `an invalid proxy is an error without its credentials`(text: String) {
    let error = #expect(throws: ProxyServer.ParseError.self) { try ProxyServer(text) }
    #expect(error?.message.contains("secret") == false)
    guard !text.isEmpty else { return }
    let named = #expect(throws: ProxyServer.ParseError.self) {
      try ProxySettings(environment: ["https_proxy": text])
    }
    #expect(named?.message.hasPrefix("https_proxy: ") == true)
  }
}
