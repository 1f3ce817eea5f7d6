internal import ObjectStore

/// The user's next step after an error of the library, for the end of its message.
///
/// The library does not know the commands of the tool, so its messages cannot say it.
enum Advice {
  /// Returns the error's message with the advice, if there is any.
  static func message(of error: any Error) -> String {
    let message = (error as? StoreError)?.plainDescription ?? "\(error)"
    return text(for: error).map { "\(message); \($0)" } ?? message
  }

  private static func text(for error: any Error) -> String? {
    guard let error = error as? StoreError, !error.refusesFile else { return nil }
    if error.requiresImmutable {
      return "the store cannot be changed here, and commands that only read accept --immutable if "
        + "no program writes it"
    }
    switch (error.cause as? StoreFolderRefusal)?.reason {
    case .otherFile, .unwritable, .unreachable: return "name the folder of a store"
    case .danglingLink: return "create that folder, or remove the link"
    case nil: break
    }
    return switch error.code {
    case .damaged: "'verify' lists the damage of a store, and 'repair' saves what is readable"
    case .otherFormat:
      "'repair' copies the objects into a file that this one can read, and keeps the old file"
    case .tooNew: "install the objectstore of the program that wrote the store, or a later one"
    case .diskFull, .mapFull: "free disk space and repeat the command"
    case .permissionDenied: "run the command as the owner of the store"
    default: nil
    }
  }
}
