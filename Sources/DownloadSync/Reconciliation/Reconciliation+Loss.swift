internal import DownloadStore

extension Reconciliation {
  /// Committed bytes that are dropped although the download continues.
  struct Loss: Sendable, Hashable {
    /// The number of bytes, which is positive.
    var byteCount: Int64
    /// Why they are of no use.
    var reason: DownloadFailure
  }

  /// The committed bytes that the decision drops; `nil` if there are none.
  var loss: Loss? {
    guard effects.rollsBack, record.received > 0 else { return nil }
    return Loss(byteCount: record.received, reason: lossReason)
  }

  /// The committed bytes that are dropped after a check of the partial file; `nil` if there are none.
  ///
  /// - Parameter counted: The bytes that the check has found to be correct; `nil` without a check.
  /// - Returns: The bytes, and the reason.
  func loss(counting counted: ByteRanges?) -> Loss? {
    guard let counted, counted.isEmpty, record.received > 0 else { return loss }
    let reason = DownloadFailure(.pieceMismatch, "no piece of the partial file has its digest")
    return Loss(byteCount: record.received, reason: reason)
  }

  private var lossReason: DownloadFailure {
    switch reconcileCase.partial {
    case .missing: return DownloadFailure(.fileInUse, "the partial file is missing")
    case .shorter: return PartialFile.Interference.truncated.failure
    case .equal, .longer, .complete, .over: break
    }
    if isPartialShared {
      return DownloadFailure(.fileInUse, "the partial file has a second name (a hard link)")
    }
    if reconcileCase.conditions.isPartialChanged { return PartialFile.Interference.changed.failure }
    guard Validator(of: record) != nil else {
      return DownloadFailure(
        .entityChanged,
        "the server stated no strong entity tag and no date by which the same file is recognised"
      )
    }
    return RangeProof.nothing.rejection
  }
}
