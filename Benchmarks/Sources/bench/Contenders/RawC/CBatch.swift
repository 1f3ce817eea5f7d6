import CLayouts
import Foundation

/// Downloads in the memory of C.
@safe
final class CBatch {
  let batch: OpaquePointer

  init(_ downloads: [Download]) {
    unsafe batch = cl_batch_make()
    for download in downloads { add(download) }
  }

  /// Creates downloads with URLs only.
  init(urls: [String]) {
    unsafe batch = cl_batch_make()
    for url in urls {
      unsafe withText(url) { text in
        var download = unsafe cl_download()
        unsafe download.url = unsafe text
        unsafe cl_batch_add(batch, &download)
      }
    }
  }

  /// Creates downloads with URLs and progress only.
  init(_ changes: [Progress]) {
    unsafe batch = cl_batch_make()
    for change in changes {
      unsafe withText(change.url) { text in
        var download = unsafe cl_download()
        unsafe download.url = unsafe text
        unsafe download.received = change.received
        unsafe download.updated_at = change.updatedAt.timeIntervalSinceReferenceDate
        unsafe cl_batch_add(batch, &download)
      }
    }
  }

  deinit {
    unsafe cl_batch_free(batch)
  }

  private func add(_ download: Download) {
    var bytes: [UInt8] = []
    func place(_ text: some Sequence<UInt8>) -> Range<Int> {
      let start = bytes.count
      bytes.append(contentsOf: text)
      return start..<bytes.count
    }
    let url = place(download.url.utf8)
    let name = place(download.name.utf8)
    let destination = place(download.destination.utf8)
    let type = place(download.type.utf8)
    let entityTag = download.entityTag.map { place($0.utf8) }
    let blob = download.resumeBlob.map { place($0) }
    let tags = download.tags.map { place($0.utf8) }
    unsafe bytes.withUnsafeBytes { bytes in
      func text(_ range: Range<Int>?) -> cl_text {
        guard let range else { return unsafe cl_text() }
        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
        return unsafe cl_text(part)
      }
      let tags = unsafe tags.map { unsafe text($0) }
      unsafe tags.withUnsafeBufferPointer { tags in
        var copy = unsafe cl_download(
          url: text(url),
          name: text(name),
          destination: text(destination),
          type: text(type),
          entity_tag: text(entityTag),
          resume_blob: text(blob),
          tags: tags.baseAddress,
          tag_count: tags.count,
          created_at: download.createdAt.timeIntervalSinceReferenceDate,
          completed_at: download.completedAt?.timeIntervalSinceReferenceDate ?? .nan,
          updated_at: download.updatedAt.timeIntervalSinceReferenceDate,
          received: download.received,
          expected: download.expected,
          priority: download.priority,
          failed_attempts: download.failedAttempts,
          state: download.state
        )
        unsafe cl_batch_add(batch, &copy)
      }
    }
  }
}

/// Passes the bytes of the string to `body`.
func withText<Result>(_ string: String, _ body: (cl_text) throws -> Result) rethrows -> Result {
  var string = string
  return try string.withUTF8 { unsafe try body(cl_text(UnsafeRawBufferPointer($0))) }
}

extension cl_text {
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(
      bytes: bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
      count: bytes.count
    )
  }

  /// The string; `nil` if it is absent.
  var string: String? {
    guard unsafe bytes != nil else { return nil }
    return unsafe String(
      decoding: UnsafeRawBufferPointer(start: bytes, count: count),
      as: UTF8.self
    )
  }

  /// The bytes; `nil` if they are absent.
  var data: Data? {
    guard let bytes = unsafe bytes else { return nil }
    return unsafe Data(bytes: bytes, count: count)
  }
}
