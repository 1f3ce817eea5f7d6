internal import LMDB

extension StoreError {
  /// Says what an LMDB error means for whoever did `what`.
  init(_ error: LMDBError, _ what: String) {
    switch error.code {
    case .noSuchFile:
      self.init(.notFound, "\(what): there is no store", cause: error)
    case .accessDenied, .readOnlyFileSystem:
      self.init(.permissionDenied, "\(what): permission denied", cause: error)
    case .noSpace:
      self.init(.diskFull, "\(what): the disk is full; nothing was written", cause: error)
    case .inputOutput:
      self.init(.inputOutput, "\(what): the disk failed", cause: error)
    case .mapFull:
      self.init(.full, "\(what): the map is full; nothing was written, try again", cause: error)
    case .busy:
      self.init(.busy, "\(what): somebody has the store open", cause: error)
    case .processIDInUse:
      self.init(
        .busy,
        """
        \(what): a process of another container that has the same process id has the store open; \
        let the containers share one process id namespace, or start this process again
        """,
        cause: error
      )
    case .fileExists:
      self.init(.alreadyExists, "\(what): there is such a file already", cause: error)
    case .wouldDeadlock:
      self.init(
        .wouldDeadlock,
        "\(what): this thread is inside a write already",
        cause: error
      )
    case .panic:
      self.init(
        .inputOutput,
        "\(what): the disk failed before; close the store and open it again",
        cause: error
      )
    case .mapResized:
      self.init(
        .other,
        "\(what): another process enlarged the file; end the reads of this process that stay open",
        cause: error
      )
    case _ where error.meansDamage:
      self.init(.damaged, "\(what): the store is damaged or is no store", cause: error)
    default:
      self.init(.other, "\(what) failed", cause: error)
    }
  }

  /// Says which object's bytes are damaged.
  @usableFromInline
  init(_ error: RecordError, model: String, objectID: UInt64) {
    self.init(.damaged, "object \(objectID) of \(model) is damaged", cause: error)
  }
}

/// Runs `body` and turns an LMDB error into one of this module.
func translating<R>(_ what: @autoclosure () -> String, _ body: () throws -> R) throws -> R {
  do {
    return try body()
  } catch let error as LMDBError {
    throw StoreError(error, what())
  }
}
