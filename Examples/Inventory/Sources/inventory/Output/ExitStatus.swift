import ObjectStoreModel

/// What the process ends with, by kind of failure; the numbers above 63 are those of sysexits.h.
enum ExitStatus: Int32 {
  /// The stock or the store says no: not enough, still in use, exists already.
  case refused = 1
  /// There is no such item, or no such store.
  case notFound = 2
  /// What was to be read is no inventory, or is damaged.
  case dataError = 65
  /// The store cannot be used in another way.
  case software = 70
  /// The disk is full or fails.
  case inputOutput = 74
  case permissionDenied = 77

  init(_ error: InventoryError) {
    switch error {
    case .noItem: self = .notFound
    case .notEnough, .tooMany, .invalid: self = .refused
    }
  }

  init(_ error: StoreError) {
    switch error.code {
    case .duplicateKey, .referenced, .danglingReference, .alreadyExists, .busy, .conflict:
      self = .refused
    case .notFound: self = .notFound
    case .damaged, .invalidInput, .schemaMismatch, .tooNew: self = .dataError
    case .diskFull, .full, .inputOutput: self = .inputOutput
    case .permissionDenied, .cannotCreate: self = .permissionDenied
    default: self = .software
    }
  }
}
