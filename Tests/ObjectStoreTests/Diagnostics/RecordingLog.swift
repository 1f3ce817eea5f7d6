import LMDB
import Logging
import SystemInterface

/// A log that keeps its entries in memory.
final class RecordingLog: Sendable {
  struct Entry: Sendable, Equatable {
    var level: Logger.Level
    var message: String
    var metadata: [String: String]
  }

  private struct Handler: LogHandler {
    let log: RecordingLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let all = (event.metadata ?? [:]).mapValues { "\($0)" }
      log.all.withLock {
        $0.append(
          Entry(level: event.level, message: "\(event.message)", metadata: all)
        )
      }
    }
  }

  private let all = Mutex<[Entry]>([])

  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  /// Returns the entries with the given message.
  func entries(_ message: String) -> [Entry] {
    all.withLock { $0.filter { $0.message == message } }
  }

  var entries: [Entry] { all.withLock { $0 } }
}
