import DownloadStore
import TestTraits
import Testing

@testable import DownloadSync

/// Filenames from responses.
@Suite struct FileNamingTests {
  private func head(_ fields: (String, String)...) -> ResponseHead {
    ResponseHead(status: 200, fields: fields.map { HeaderField(name: $0.0, value: $0.1) })
  }

  @Test(
    .requirements("FK28"),
    arguments: [
      ("application/pdf", "pdf"), ("Text/HTML; charset=utf-8", "html"), ("image/jpeg ", "jpg"),
      ("text/plain", nil),
      ("application/octet-stream", nil), ("binary/octet-stream", nil), ("", nil), (";", nil),
    ] as [(String, String?)]
  )
  func `a specific media type maps to a filename extension`(field: String, ext: String?) {
    let type = head(("Content-Type", field)).mediaType
    #expect(type.flatMap(MediaType.filenameExtension(of:)) == ext)
  }

  @Test(
    arguments: [
      // URL, Content-Disposition, Content-Type, filename from the response
      ("https://a/get", "attachment; filename=x.zip", "text/html", "x.zip"),
      ("https://a/get", "attachment; filename=get", nil, "get"),
      ("https://a/get", "attachment; filename=\"../../etc/x\"", nil, "x"),
      ("https://a/get", "attachment; filename=\"..\"", nil, nil),
      ("https://a/get", nil, "application/pdf", "get.pdf"),
      ("https://a/get", nil, "application/octet-stream", nil),
      ("https://a/LICENSE", nil, "text/plain; charset=utf-8", nil),
      ("https://a/get.php", nil, "application/pdf", nil),
      ("https://a/", nil, "text/html", "download.html"),
      ("https://a/get", nil, nil, nil),
    ] as [(String, String?, String?, String?)]
  )
  func `without a requested filename the response supplies it`(
    url: String,
    disposition: String?,
    type: String?,
    name: String?
  ) {
    let fields = [("Content-Disposition", disposition), ("Content-Type", type)]
    let head = ResponseHead(
      status: 200,
      fields: fields.compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
    )
    #expect(FileNaming.fromResponse.name(forURL: url, head) == name)
    #expect(FileNaming.fromURL.name(forURL: url, head) == nil)
  }
}
