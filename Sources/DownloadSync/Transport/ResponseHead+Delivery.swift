internal import DownloadStore

extension ResponseHead {
  /// The head for a file that a system delivers: of all bytes from `offset` on, where its last
  /// response may have been about the last of them.
  ///
  /// A status other than 206 was about all of the file, and stays.
  package func ofDelivery(byteCount: Int64, from offset: Int64) -> Self {
    guard status == 206, byteCount > 0 else { return self }
    var head = self
    head.fields.removeAll { ["content-range", "content-length"].contains($0.name.lowercased()) }
    head.fields.append(HeaderField(name: "Content-Length", value: "\(byteCount)"))
    if offset > 0 {
      let total = contentRange?.total.map { "\($0)" } ?? "*"
      let last = Int128(offset) + Int128(byteCount) - 1
      let range = "bytes \(offset)-\(last)/\(total)"
      head.fields.append(HeaderField(name: "Content-Range", value: range))
    } else {
      head.status = 200
    }
    return head
  }
}
