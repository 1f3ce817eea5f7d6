import DownloadStore
import Foundation
import Testing

/// Folders and names that follow from URLs.
struct PathTemplateTests {
  /// 2026-11-28 12:00:00 UTC, which is that day nearly everywhere.
  private static let noon = Date(timeIntervalSince1970: 1_795_867_200)

  private func placed(
    _ template: String,
    _ url: String,
    named name: String? = nil,
    in folder: String = ""
  ) throws -> (folder: String, name: String?) {
    var request = DownloadRequest(url: url)
    request.filename = name
    request.folder = folder
    try PathTemplate(template).place(&request, at: Self.noon)
    return (request.folder, request.filename)
  }

  @Test(
    arguments: [
      ("{host}/{name}", "https://Example.com/a/b.bin", "example.com", nil),
      (
        "{host}/{path}/{name}", "https://example.com:8443/x/y/b.bin?q=1", "example.com+8443/x/y",
        nil
      ),
      ("{host}/{path}/{name}", "http://[::1]:80/b", "[++1]", nil),
      ("{date}-{name}", "http://h/b.tar.gz", "", "2026-11-28-b.tar.gz"),
      ("{year}/{month}/{day}/{stem}.{ext}", "http://h/b.tar.gz", "2026/11/28", "b.tar.gz"),
      ("x/{{{name}}}", "http://h/b", "x", "{b}"),
      ("./a//{name}", "http://h/b", "a", nil),
      // Names of servers cannot leave the folder, and are not hidden.
      ("{path}/{name}", "http://h/.ssh/a%2Fb/%00x/b", "ssh/b/x", nil),
      ("{name}.part", "http://h/a%2F..%2F..%2Fetc", "", "etc.part"),
    ] as [(String, String, String, String?)]
  )
  func `fields are replaced by safe values of the request`(
    _ template: String,
    _ url: String,
    _ folder: String,
    _ name: String?
  ) throws {
    let placed = try placed(template, url)
    #expect(placed.folder == folder && placed.name == name, "\(placed)")
  }

  @Test func `the name and the folder of the request are kept`() throws {
    let placed = try placed("{host}/{name}", "http://h/b", named: "c.txt", in: "f")
    #expect(placed.folder == "f/h" && placed.name == "c.txt")
    #expect(try self.placed("{stem}-1.{ext}", "http://h/b", named: "c.txt").name == "c-1.txt")
  }

  @Test func `the folders before the first field of an absolute path are the root`() throws {
    let template = try PathTemplate("/srv/backups/{host}/x/{name}")
    #expect(template.root == "/srv/backups" && !template.dependsOnDate)
    #expect(try placed("/srv/backups/{host}/x/{name}", "http://h/b").folder == "h/x")
    #expect(try PathTemplate("/{name}").root == "/")
    #expect(try PathTemplate("{date}/{name}").root == nil)
    #expect(try PathTemplate("{day}/{name}").dependsOnDate)
  }

  @Test(arguments: [
    "{hots}/{name}", "{name", "name}", "{}", "{host}/", "{host}/.", "{host}/..", "../{name}",
    "{path}", "a{path}/{name}", "/{host}/../{name}",
  ])
  func `a template that names no file below its folder is refused`(_ text: String) {
    let error = #expect(throws: RecordStoreError.self) { try PathTemplate(text) }
    #expect(error?.code == .invalidName)
    if text.hasPrefix("{hots}") {
      for field in PathTemplate.Field.allCases {
        #expect(error?.message.contains("{\(field.rawValue)}") == true)
      }
    }
  }

  @Test(arguments: [
    (0, "h/pub/models"), (1, "h/models"), (2, "h"), (9, "h"),
  ])
  func `folders from a URL begin with the host, and some of the path are left out`(
    _ count: Int,
    _ folder: String
  ) {
    var request = DownloadRequest(url: "https://h/pub//models/a.bin")
    request.addFolders(fromURLCutting: count)
    #expect(request.folder == folder && request.filename == nil)
  }
}
