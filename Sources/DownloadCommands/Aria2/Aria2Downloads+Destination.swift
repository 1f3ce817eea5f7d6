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
    /// Whether only errors are printed.
    let isQuiet: Bool

    /// The result of ``place(_:isShared:)``.
    enum Placement: Sendable, Hashable {
      case placed
      /// The file has another name, because another file has that of the caller.
      case renamed
      /// The file cannot get the name of the caller.
      case failed
      /// The caller wants no other name, so the new file is deleted.
      case refused
    }

    /// Gives a finished file the name that the caller expects.
    ///
    /// A file of the user is replaced only by one that begins with all its bytes, or on request.
    ///
    /// - Parameters:
    ///   - finished: The path of the finished file.
    ///   - isShared: Whether another download of the call has the same destination.
    /// - Returns: What was done.
    func place(_ finished: String, isShared: Bool) -> Placement {
      guard StoredText(finished) != StoredText(path) else { return .placed }
      let theirs = FileIdentity(ofFileAt: path)
      if isContinued, collision != .replace, let theirs { return replace(theirs, with: finished) }
      guard isNameGiven, Aria2Downloads.obstacle(at: path) == nil else { return .renamed }
      // Only the invisible characters and the dots are to be restored, because the caller has chosen the
      // name, and not the server; and a name that was taken before.
      let name = StoredText((finished as NSString).lastPathComponent)
      let isOwn = name == StoredText(safeName) || isContinued
      guard isOwn || theirs == nil && !isShared else { return .renamed }
      let code =
        isOwn && collision == .replace
        ? FolderOwner.rename(finished, over: path)
        : RenameWithoutReplacing.rename(finished, to: path)
      guard code == EEXIST, collision == .fail else { return outcome(of: finished, code) }
      unlink(finished)
      Output.current.say("\(path) exists; --allow-overwrite=true replaces it")
      return .refused
    }

    /// Says what has become of a rename.
    private func outcome(of finished: String, _ code: Int32) -> Placement {
      guard code == 0 else {
        Output.current.say("\(finished) cannot be renamed to \(path): \(systemErrorText(code))")
        return code == EEXIST ? .renamed : .failed
      }
      if !isQuiet { Output.current.say("renamed \(finished) to \(path)") }
      return .placed
    }

    /// Replaces a file that the engine has not replaced, such as one whose name is not safe.
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
      return outcome(of: finished, FolderOwner.rename(finished, over: path))
    }
  }
}
