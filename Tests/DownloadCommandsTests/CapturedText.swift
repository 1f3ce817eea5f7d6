import SystemInterface

/// Collects written text.
final class CapturedText: Sendable {
  private let bytes = Mutex<[UInt8]>([])

  var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  func append(_ more: [UInt8]) {
    bytes.withLock { $0 += more }
  }
}
