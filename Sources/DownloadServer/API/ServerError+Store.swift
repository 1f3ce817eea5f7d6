internal import DownloadStore
internal import ObjectStore

extension ServerError {
  /// The answer for an error of the store.
  init(storeError error: any Error) {
    switch error {
    case let error as ServerError: self = error
    case let error as RecordStoreError: self.init(Self.code(error.code), error.message)
    case let error as StoreError where error.code == .invalidPageToken:
      self.init(.conflict, "'after' is a position in another order: begin with the first page")
    case let error as StoreError where error.code == .replaced:
      self.init(
        .storeReplaced,
        "the store was moved, deleted or replaced while the server had it open: start the server again"
      )
    case let error as StoreError: self.init(.storeFailed, error.plainDescription)
    default: self.init(.storeFailed, "the request failed")
    }
  }

  private static func code(_ code: RecordStoreError.Code) -> Code {
    switch code {
    case .invalidURL, .invalidName, .invalidDigest, .invalidHeader, .invalidKey, .invalidTag,
      .invalidRecord:
      .invalidRequest
    case .unknownRecord: .notFound
    case .ambiguousID: .ambiguous
    case .nameTaken, .urlTaken, .keyTaken, .busy, .missingRoot: .conflict
    case .fileSystem: .storeFailed
    default: .storeFailed
    }
  }
}
