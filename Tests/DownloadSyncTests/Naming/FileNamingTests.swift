import DownloadStore
import Testing

@testable import DownloadSync

/// Which name a complete file gets.
@Suite struct FileNamingTests {
  private func head(_ fields: (String, String)...) -> ResponseHead {
    ResponseHead(status: 200, fields: fields.map { HeaderField(name: $0.0, value: $0.1) })
  }

  @Test(
    arguments: [
      ("attachment; filename=a.zip", "a.zip"),
      ("attachment; filename=\"a b.zip\"", "a b.zip"),
      ("attachment;filename = \"a.zip\" ; x=y", "a.zip"),
      ("inline; FileName=a.zip", "a.zip"),
      ("attachment; filename=\"a\\\"b\\\\c.zip\"", "a\"b\\c.zip"),
      ("attachment; filename=\"a;b=c.zip\"", "a;b=c.zip"),
      ("attachment; x=\"filename=no\"; filename=yes", "yes"),
      ("attachment; filename=first; filename=second", "first"),
      ("attachment; filename=plain; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
      ("attachment; filename*=UTF-8'en'%e2%82%ac.txt; filename=plain", "€.txt"),
      ("attachment; filename*=iso-8859-1''%A3.txt", "£.txt"),
      ("attachment; filename*=UTF-8''%A3.txt; filename=plain", "plain"),
      ("attachment; filename*=UTF-8''%+1; filename=plain", "plain"),
      ("attachment; filename*=UTF-8''%4; filename=plain", "plain"),
      ("attachment; filename*=koi8-r''%A3; filename=plain", "plain"),
      ("attachment; filename*=nonsense; filename=plain", "plain"),
      ("attachment; filename=\"é.txt\"", "é.txt"),
      ("attachment; flag; filename=a", "a"),
      ("attachment; filename=\"never ends", nil),
      ("attachment; filename=", nil), ("attachment; filename=\"\"", nil),
      ("attachment", nil), ("filename=a", nil), ("", nil), (";", nil), (";;=;", nil),
    ] as [(String, String?)]
  )
  func `a name is read as the RFC says`(field: String, name: String?) {
    #expect(head(("content-disposition", field)).suggestedFilename == name)
  }

  @Test(
    arguments: [
      ("application/pdf", "pdf"), ("Text/HTML; charset=utf-8", "html"), ("image/jpeg ", "jpg"),
      ("application/octet-stream", nil), ("binary/octet-stream", nil), ("", nil), (";", nil),
    ] as [(String, String?)]
  )
  func `FK28 a type that says what a file is has an extension`(field: String, ext: String?) {
    let type = head(("Content-Type", field)).mediaType
    #expect(type.flatMap(MediaType.filenameExtension(of:)) == ext)
  }

  @Test(
    arguments: [
      // URL, name of the record, Content-Disposition, Content-Type, name in the end
      ("https://a/get", "get", "attachment; filename=x.zip", "text/html", "x.zip"),
      ("https://a/get", "get (2)", "attachment; filename=x.zip", nil, "x.zip"),
      ("https://a/get", "mine", "attachment; filename=x.zip", "text/html", nil),
      ("https://a/get", "get", "attachment; filename=get", nil, nil),
      ("https://a/get", "get (2)", "attachment; filename=get", nil, nil),
      ("https://a/get", "get", "attachment; filename=\"../../etc/x\"", nil, "x"),
      ("https://a/get", "get", "attachment; filename=\"..\"", nil, "download"),
      ("https://a/get", "get", nil, "application/pdf", "get.pdf"),
      ("https://a/get", "get (3)", nil, "application/pdf", "get.pdf"),
      ("https://a/get", "get", nil, "application/octet-stream", nil),
      ("https://a/get.php", "get.php", nil, "application/pdf", nil),
      ("https://a/", "download", nil, "text/html", "download.html"),
      ("https://a/get", "get", nil, nil, nil),
    ] as [(String, String, String?, String?, String?)]
  )
  func `a name that nobody gave comes from the response`(
    url: String,
    filename: String,
    disposition: String?,
    type: String?,
    name: String?
  ) {
    var record = DownloadRecord.sample(url: url)
    record.filename = filename
    let fields = [("Content-Disposition", disposition), ("Content-Type", type)]
    let head = ResponseHead(
      status: 200,
      fields: fields.compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
    )
    #expect(FileNaming.fromResponse.name(for: record, head) == name)
    #expect(FileNaming.fromURL.name(for: record, head) == nil)
    #expect(FileNaming.fromResponse.name(for: record, nil) == nil)
  }

  @Test func `a file whose place the next one takes keeps its name`() {
    var record = DownloadRecord.sample()
    record.replacedStamp = FileStamp(size: 1, inode: 2, modified: 3)
    let head = head(("Content-Disposition", "attachment; filename=x.zip"))
    #expect(FileNaming.fromResponse.name(for: record, head) == nil)
  }

  @Test(arguments: [("", "pdf"), ("mine", "mine")])
  func `a type follows the name unless somebody gave it`(type: String, result: String) {
    var record = DownloadRecord.sample()
    record.type = type
    record.rename(to: "a.pdf")
    #expect(record.type == result)
    #expect(record.filename == "a.pdf")
  }
}
