import Testing

@testable import DownloadStore

@Suite struct PublicSuffixTests {
  @Test(arguments: [
    "com", "uk", "co.uk", "com.au", "ac.jp", "gov.uk", "k12.ca.us", "github.io", "blogspot.com",
    "s3.amazonaws.com", "localhost", "", "com.", "co.uk.",
  ])
  func `a domain under which anybody registers names is a public suffix`(domain: String) {
    #expect(PublicSuffix.contains(domain))
  }

  @Test(arguments: [
    "example.com", "example.co.uk", "www.gov.uk", "co.com.example.org", "github.com", "a.github.io",
    "t.co", "bbc.co.uk",
  ])
  func `a registered domain is none`(domain: String) {
    #expect(!PublicSuffix.contains(domain))
  }

  @Test func `a list has rules, wildcards and exceptions`() {
    let list = PublicSuffix.List("// x\n\nuk\nco.uk \r\n*.ck // all\n!www.ck\n")
    #expect(["uk", "co.uk", "a.ck", "b.ck"].allSatisfy(list.contains))
    #expect(!["example.uk", "www.ck", "a.b.ck", "ck2", "// x", ""].contains(where: list.contains))
  }

  @Test func `rules of a list apply to the ASCII form of a name`() {
    let list = PublicSuffix.List("公司.cn\n*.个人.hk\n!city.个人.hk\n")
    #expect(list.contains("xn--55qx5d.cn") && list.contains("a.xn--ciqpn.hk"))
    #expect(!list.contains("city.xn--ciqpn.hk"))
  }
}
