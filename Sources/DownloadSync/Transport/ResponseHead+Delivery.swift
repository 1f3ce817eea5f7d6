internal import DownloadStore

extension ResponseHead {
  /// Returns the head for a delivered file, which contains all bytes from `offset` to the end.
  ///
  /// The last response of the task may have contained only the final part of these bytes. Only a
  /// 206 is changed: every other status describes the whole body.
  package func forDelivery(byteCount: Int64, from offset: Int64) -> Self {
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
