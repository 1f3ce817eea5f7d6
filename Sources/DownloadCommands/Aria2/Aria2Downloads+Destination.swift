internal import CommandLineSupport
internal import DownloadStore
internal import Foundation
internal import SystemInterface

extension Aria2Downloads {
  /// Where a caller of aria2c expects a file, which it opens by this path.
  struct Destination: Sendable, Hashable {
    /// The path.
    let path: String
    /// The name that the store gives the file if no other file has it.
    let safeName: String
    /// What the caller wants if another file has the path.
    let collision: NameCollision
    /// Whether the caller has given the name, and not the URL.
    let isNameGiven: Bool
    /// Whether an existing file without a control file is continued.
    let isContinued: Bool

    /// What ``place(_:)`` has done.
    enum Placement: Sendable, Hashable {
      case placed
      /// The file has another name.
      case renamed
      /// The caller wants no other name, so the new file is deleted.
      case refused
    }

    /// Gives a finished file the name that the caller expects.
    ///
    /// A file of the user is replaced only by one that begins with all its bytes, or on request.
    ///
    /// - Parameter finished: The path of the finished file.
    /// - Returns: What was done.
    func place(_ finished: String) -> Placement {
      guard finished != path else { return .placed }
      if isContinued, collision != .replace, let theirs = FileIdentity(ofFileAt: path) {
        return replace(theirs, with: finished)
      }
      // Only the invisible characters and the dots are to be restored, because the caller has chosen the
      // name, and not the server.
      let name = (finished as NSString).lastPathComponent
      guard isNameGiven, name == safeName || isContinued, Aria2Downloads.obstacle(at: path) == nil
      else { return .renamed }
      let code =
        collision == .replace
        ? (rename(finished, path) == 0 ? 0 : errno)
        : RenameWithoutReplacing.rename(finished, to: path)
      guard code != 0 else { return .placed }
      Output.current.say("\(finished) cannot be renamed to \(path): \(systemErrorText(code))")
      return .renamed
    }

    /// Replaces a file that the engine has not replaced: an empty one, or one whose name is not safe.
    private func replace(_ theirs: FileIdentity, with finished: String) -> Placement {
      guard FileBytes.begin(finished, with: path), FileIdentity(ofFileAt: path) == theirs else {
        guard collision == .fail else {
          Output.current.say(
            "\(path) stays, because the server's file does not begin with its bytes: that is \(finished)"
          )
          return .renamed
        }
        unlink(finished)
        Output.current.say(
          "\(path) stays, because the server's file does not begin with its bytes; "
            + "--allow-overwrite=true replaces it"
        )
        return .refused
      }
      FileMode.publish(finished, replacing: path)
      let code = FolderOwner.rename(finished, over: path)
      guard code == 0 else {
        Output.current.say("\(finished) cannot be renamed to \(path): \(systemErrorText(code))")
        return .renamed
      }
      return .placed
    }
  }
}
