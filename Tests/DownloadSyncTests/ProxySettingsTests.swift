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

  @Test(
    arguments: [
      ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
      ("10.9.9.9/8", "10.1.2.3", true), ("172.16.0.0/12", "172.31.255.255", true),
      ("172.16.0.0/12", "172.32.0.0", false), ("192.168.1.7/32", "192.168.1.7", true),
      ("192.168.1.7/32", "192.168.1.6", false), ("0.0.0.0/0", "203.0.113.9", true),
      ("0.0.0.0/0", "[::1]", false), ("fd00::/8", "[fdab::1]", true),
      ("fd00::/8", "[fe80::1]", false), ("2001:db8::/33", "[2001:db8:7fff::1]", true),
      ("2001:db8::/33", "[2001:db8:8000::1]", false), ("[fd00::]/8", "[fd00::1]", true),
      ("::/0", "[2001:db8::1]", true), ("::/0", "127.0.0.1", false),
      // An IPv6 address matches in each spelling.
      ("2001:DB8:0:0::1", "[2001:db8::1]", true), ("2001:db8::1", "[2001:0db8:0::0001]", true),
      ("[::1]", "[0:0:0:0:0:0:0:1]", true), ("::ffff:127.0.0.1", "[::ffff:7f00:1]", true),
      ("::1", "[::2]", false),
      // The end of an address is no domain, and a name is no address.
      ("0.0.1", "127.0.0.1", false), ("10.0.0.0/8", "10.example", false),
      ("10.0.0.0/8", "localhost", false),
      // No network.
      ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/", "10.0.0.0", false),
      ("10.0.0.0/+8", "10.0.0.1", false), ("10.0.0.0/-1", "10.0.0.0", false),
      ("10.0.0.0/8/8", "10.0.0.0", false), ("fd00::/129", "[fd00::]", false),
      ("/8", "10.0.0.0", false), ("10/8", "10.0.0.1", false), ("name/8", "name", false),
    ]
  )
  func `no_proxy has networks, and addresses in any spelling`(
    exception: String,
    host: String,
    isDirect: Bool
  ) throws {
    let environment = ["http_proxy": "p:1", "no_proxy": "other.test, \(exception)"]
    #expect(try (server("http://\(host)/", environment) == nil) == isDirect)
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
