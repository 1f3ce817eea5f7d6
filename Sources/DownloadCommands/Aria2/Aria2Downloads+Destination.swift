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
    /// A file of the user is replaced only by one that begins with all its bytes, or on request; one
    /// with the same bytes stays.
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
      guard isNameGiven, name == safeName || isContinued else { return .renamed }
      let code =
        collision == .replace
        ? (rename(finished, path) == 0 ? 0 : errno)
        : RenameWithoutReplacing.rename(finished, to: path)
      guard code != 0 else { return .placed }
      Output.current.say("\(finished) cannot be renamed to \(path): \(systemErrorText(code))")
      return .renamed
    }

    private func replace(_ theirs: FileIdentity, with finished: String) -> Placement {
      guard Self.begins(finished, with: path), FileIdentity(ofFileAt: path) == theirs else {
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
      let isComplete = FileIdentity(ofFileAt: finished)?.size == theirs.size
      if !isComplete,
        let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      {
        // A file system without modes refuses it.
        try? FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: finished)
      }
      guard (isComplete ? unlink(finished) : rename(finished, path)) == 0 else {
        Output.current.say("\(finished) cannot be renamed to \(path): \(systemErrorText())")
        return .renamed
      }
      return .placed
    }

    /// Whether a file begins with all bytes of another one.
    private static func begins(_ path: String, with other: String) -> Bool {
      guard let whole = FileHandle(forReadingAtPath: path),
        let start = FileHandle(forReadingAtPath: other)
      else { return false }
      do {
        while let part = try start.read(upToCount: 1 << 20), !part.isEmpty {
          guard try whole.read(upToCount: part.count) == part else { return false }
        }
        return true
      } catch {
        return false
      }
    }
  }
}
