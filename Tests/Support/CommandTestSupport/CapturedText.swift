internal import SystemInterface

/// Collects written text.
package final class CapturedText: Sendable {
  private let bytes = Mutex<[UInt8]>([])

  package init() {}

  package var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  package func append(_ more: [UInt8]) {
    bytes.withLock { $0 += more }
  }
}
