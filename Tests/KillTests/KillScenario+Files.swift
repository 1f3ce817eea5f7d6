import DownloadStore
import FaultServer

// The files on the server, and what the server does with them.

extension KillScenario {
  private static let byteCount: Int64 = 3_000_000

  /// Routes another file, and returns its path.
  func makePath() -> String {
    let path = "/file-\(bodies.count)"
    let body = Body.generated(byteCount: Self.byteCount, seed: UInt64(bodies.count + 1))
    var resource = Resource(body)
    switch (hasParts, bodies.count % 4) {
    case (_, 0), (false, 2):
      // Resets each connection after 1.5 MB.
      resource.faults = [.resetEvery(bytes: 1_500_000)]
      resource.afterFaults = .repeatLast
    case (true, 2):
      resource.faults = Self.lies
      mayLose.insert(path)
    case (true, 3): versions[path] = ["\"1\"": body]
    default: break
    }
    resource.bytesPerSecond = bytesPerSecond
    server.route(path, resource)
    bodies[path] = body
    return path
  }

  /// The rate of a connection; a file takes about two seconds.
  private var bytesPerSecond: Int64 { hasParts ? 400_000 : 1_500_000 }

  /// What a server that cannot be trusted with ranges replies to one request after another.
  private static let lies: [Fault] = [
    .none, .wrongOffset(5), .none, .none, .ignoreRange, .none, .status(503), .none,
    .closeAfter(bytes: 10), .none, .none, .rangeNotSatisfiable, .none, .resetAfter(bytes: 50_000),
  ]

  /// Serves another version of a file that changes.
  func changeFile(using random: inout some RandomNumberGenerator) {
    guard let (path, old) = versions.sorted(by: { $0.key < $1.key }).randomElement(using: &random)
    else { return }
    let tag = "\"\(old.count + 1)\""
    let body = Body.generated(
      byteCount: Self.byteCount,
      seed: UInt64(1_000 * (old.count + 1) + bodies.count)
    )
    versions[path]?[tag] = body
    mayLose.insert(path)
    var resource = Resource(body, etag: tag)
    resource.bytesPerSecond = bytesPerSecond
    server.route(path, resource)
  }

  /// The bytes of the version of a file that a record has.
  func body(of record: DownloadRecord, _ path: String) -> Body? {
    record.entityTag.flatMap { versions[path]?[$0] } ?? bodies[path]
  }
}
