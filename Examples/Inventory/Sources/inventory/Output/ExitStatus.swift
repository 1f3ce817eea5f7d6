import ObjectStoreModel

/// The exit code for each kind of failure; codes above 63 are those of `sysexits.h`.
enum ExitStatus: Int32 {
  /// The operation was refused: not enough pieces, still in use, or already exists.
  case refused = 1
  /// The item, the place or the store does not exist.
  case notFound = 2
  /// The store or the file to import is damaged or invalid, or a migration failed.
  case dataError = 65
  /// Any other error of the store.
  case software = 70
  /// The disk is full or failed.
  case inputOutput = 74
  /// Permission was denied, or the store cannot be created.
  case permissionDenied = 77

  init(_ error: InventoryError) {
    switch error {
    case .noItem, .noMatch: self = .notFound
    case .notEnough, .overflow: self = .refused
    }
  }

  init(_ error: StoreError) {
    switch error.code {
    case .duplicateKey, .referenced, .danglingReference, .alreadyExists, .busy, .conflict:
      self = .refused
    case .notFound: self = .notFound
    case .damaged, .invalidInput, .schemaMismatch, .tooNew, .migrationFailed: self = .dataError
    case .diskFull, .mapFull, .inputOutput: self = .inputOutput
    case .permissionDenied, .cannotCreate: self = .permissionDenied
    default: self = .software
    }
  }
}
