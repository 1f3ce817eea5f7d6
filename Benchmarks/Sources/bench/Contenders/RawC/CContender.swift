import CLayouts
import Foundation

/// `liblmdb`, used directly from C.
///
/// Each operation is one C call. Swift prepares its input and checks the result.
@safe
final class CContender: Contender {
  enum Layout {
    case url
    case hash
    case hidx
    case hsplit

    fileprivate var code: cl_layout {
      switch self {
      case .url: CL_URL
      case .hash: CL_HASH
      case .hidx: CL_HIDX
      case .hsplit: CL_HSPLIT
      }
    }
  }

  private let path: String
  // The C store separates reader and writer, and no row uses either of them from two threads.
  private nonisolated(unsafe) let store: OpaquePointer

  init(_ layout: Layout, at path: String) throws {
    self.path = path
    var opened: OpaquePointer?
    try unsafe Self.check(cl_open(&opened, path, layout.code))
    guard let opened = unsafe opened else { throw Mismatch("no store at \(path)") }
    unsafe store = unsafe opened
  }

  deinit {
    unsafe cl_close(store)
  }

  static var lmdbVersion: String { unsafe String(cString: cl_lmdb_version()) }

  private static func check(_ code: Int32) throws {
    guard code == 0 else { throw unsafe Mismatch("raw C: \(String(cString: cl_message(code)))") }
  }

  // MARK: Writing

  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws {
    try stopwatch.run { try unsafe Self.check(cl_begin(store)) }
    while let chunk = nextChunk() {
      let batch = CBatch(chunk)
      try stopwatch.run { try unsafe Self.check(cl_insert(store, batch.batch)) }
    }
    try stopwatch.run { try unsafe Self.check(cl_commit(store)) }
  }

  func upsert(_ downloads: [Download], _ stopwatch: inout Stopwatch) throws {
    let batch = CBatch(downloads)
    try stopwatch.run {
      try unsafe Self.check(cl_begin(store))
      try unsafe Self.check(cl_replace(store, batch.batch))
      try unsafe Self.check(cl_commit(store))
    }
  }

  func update(_ changes: [Progress], _ stopwatch: inout Stopwatch) throws {
    let batch = CBatch(changes)
    try stopwatch.run {
      try unsafe Self.check(cl_begin(store))
      try unsafe Self.check(cl_update_progress(store, batch.batch))
      try unsafe Self.check(cl_commit(store))
    }
  }

  // MARK: Reading

  func sumReceived(of urls: [String], _ stopwatch: inout Stopwatch) throws -> Int64 {
    let batch = CBatch(urls: urls)
    var sum: Int64 = 0
    try stopwatch.run { try unsafe Self.check(cl_sum_received(store, batch.batch, &sum)) }
    return sum
  }

  func read(_ urls: [String], _ stopwatch: inout Stopwatch) throws -> Digest {
    let batch = CBatch(urls: urls)
    var digest = cl_digest()
    try stopwatch.run { try unsafe Self.check(cl_read_whole(store, batch.batch, &digest)) }
    return Digest(digest)
  }

  func readFailed(_ stopwatch: inout Stopwatch) throws -> Digest {
    var digest = cl_digest()
    try stopwatch.run { try unsafe Self.check(cl_read_state(store, Download.failed, &digest)) }
    return Digest(digest)
  }

  func countReceived(above bound: Int64, _ stopwatch: inout Stopwatch) throws -> Int {
    var count: UInt64 = 0
    try stopwatch.run {
      try unsafe Self.check(cl_count_received_above(store, bound, &count))
    }
    return Int(count)
  }

  // MARK: Checking

  func download(_ url: String) throws -> Download? {
    var found = unsafe cl_download()
    try unsafe withText(url) { text in
      try unsafe Self.check(cl_get(store, text, &found))
    }
    defer { unsafe cl_download_free(&found) }
    return unsafe Download(found)
  }

  func size() throws -> Int { bench.size(of: ["\(path)/data.mdb"]) }
}

extension Digest {
  fileprivate init(_ digest: cl_digest) {
    self.init(count: Int(digest.count), bytes: Int(digest.bytes), received: digest.received)
  }
}

extension Download {
  fileprivate init(_ found: cl_download) {
    let tags = unsafe UnsafeBufferPointer(start: found.tags, count: found.tag_count)
    let completedAt = unsafe found.completed_at
    unsafe self.init(
      url: found.url.string ?? "",
      name: found.name.string ?? "",
      destination: found.destination.string ?? "",
      type: found.type.string ?? "",
      entityTag: found.entity_tag.string,
      tags: tags.map { unsafe $0.string ?? "" },
      resumeBlob: found.resume_blob.data,
      state: found.state,
      failedAttempts: found.failed_attempts,
      createdAt: Date(timeIntervalSinceReferenceDate: found.created_at),
      completedAt: completedAt.isNaN ? nil : Date(timeIntervalSinceReferenceDate: completedAt),
      received: found.received,
      expected: found.expected,
      updatedAt: Date(timeIntervalSinceReferenceDate: found.updated_at),
      priority: found.priority
    )
  }
}
