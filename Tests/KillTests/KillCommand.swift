import DownloadStore
import Foundation

/// A command that is killed, and what the store held before it.
struct KillCommand {
  /// What the command does.
  enum Kind: String, CaseIterable {
    case add, pause, resume, cancel, remove, restart, set, purge
  }

  var kind: Kind
  var arguments: [String]
  /// The paths that the command is about.
  var paths: [String]
  /// Their records before the command.
  var before: [String: DownloadRecord] = [:]
  /// What `set` sets.
  var filename = ""
  var priority: Int32 = 0
  /// Whether `remove` removes the finished file too.
  var withFile = false
}
