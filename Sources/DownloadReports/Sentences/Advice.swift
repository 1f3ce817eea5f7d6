internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import ProgramOutput

/// The user's next step after an error of a library, for the end of its message.
///
/// The libraries do not know the options of the tool, so their messages cannot say it.
package enum Advice {
  /// The next step of a user whose store does not exist.
  package static var withoutStore: String {
    "\(SuggestedCommand.text("add URL")) creates a store, and --store names another one"
  }

  /// Returns the error's message with the advice, if there is any.
  package static func message(of error: any Error) -> String {
    let message = (error as? StoreError)?.plainDescription ?? "\(error)"
    return text(for: error).map { "\(message); \($0)" } ?? message
  }

  /// Returns the advice for an error; `nil` if its message says enough.
  package static func text(for error: any Error) -> String? {
    switch error {
    case let error as StoreError where error.requiresImmutable:
      "the store cannot be changed here, and commands that only read accept --immutable if no program "
        + "writes it"
    case let error as StoreError where error.refusesFile: nil
    case let error as StoreError:
      if let refusal = error.cause as? StoreFolderRefusal {
        text(for: refusal.reason)
      } else {
        text(for: error.code)
      }
    case let error as RecordStoreError: text(for: error.code)
    case let error as EngineError: text(for: error.code)
    default: nil
    }
  }

  /// Returns the advice for a word in the place of a download's name that no download has; `nil` if
  /// it is not the word of a state.
  package static func option(for name: String) -> String? {
    DownloadState.words.contains(name) ? "--state \(name) selects downloads by their state" : nil
  }

  private static func text(for reason: StoreFolderRefusal.Reason) -> String? {
    switch reason {
    case .otherFile, .unreachable: "--store names the folder of a store"
    case .danglingLink: "create that folder, remove the link, or name another --store"
    case .unwritable where Output.current.program.repeatedOptions.contains("--store "):
      "name another --store"
    case .unwritable:
      "name another one with --store or $DLSTORE_STORE, or set HOME to a folder of this user"
    }
  }

  private static func text(for code: StoreError.Code) -> String? {
    switch code {
    case .notFound: withoutStore
    case .damaged:
      "\(SuggestedCommand.text("verify")) lists the damage, and "
        + "\(SuggestedCommand.text("verify --repair")) saves what is readable"
    case .otherFormat:
      "\(SuggestedCommand.text("verify --repair")) copies its downloads into a file that this one can "
        + "read, and keeps the old file"
    case .tooNew: "install the dlstore that wrote the store, or a later one"
    case .diskFull, .mapFull: "free disk space and repeat the command"
    case .permissionDenied: "run the command as the owner of the store, or name another --store"
    default: nil
    }
  }

  private static func text(for code: RecordStoreError.Code) -> String? {
    switch code {
    case .unknownRecord: "\(SuggestedCommand.text("list")) shows all downloads"
    case .ambiguousID: "give the id, which \(SuggestedCommand.text("list")) shows"
    case .nameTaken: "choose another name"
    default: nil
    }
  }

  private static func text(for code: EngineError.Code) -> String? {
    switch code {
    case .alreadyRunning: "stop it first"
    default: nil
    }
  }
}
