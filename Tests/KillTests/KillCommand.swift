import DownloadStore
import Foundation

/// A command that is killed, and the records before it.
struct KillCommand {
  /// The name of the command.
  enum Kind: String, CaseIterable {
    case add, pause, resume, cancel, remove, restart, set, purge
  }

  var kind: Kind
  var arguments: [String]
  /// The paths of the command's downloads.
  var paths: [String]
  /// The records of these downloads before the command.
  var before: [String: DownloadRecord] = [:]
  /// The values that `set` assigns.
  var filename = ""
  var priority: Int32 = 0
  /// Whether `remove` deletes the finished file, too.
  var withFile = false
}
