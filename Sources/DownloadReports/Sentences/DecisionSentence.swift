internal import DownloadStore
package import DownloadSync

/// What an engine does with a download next, for people who do not know the rules.
package enum DecisionSentence {
  /// Returns the predicate of a sentence about the engine, without a full stop.
  ///
  /// - Parameters:
  ///   - decision: The decision.
  ///   - received: The number of bytes on disk.
  /// - Returns: The text, such as `deletes the partial file, then downloads from the first byte`.
  package static func text(_ decision: ReconcileDecision, received: Int64) -> String {
    let actions = decision.actions + (decision.plan?.actions ?? [])
    var parts = actions.compactMap(text(of:))
    if let plan = decision.plan { parts.append(text(of: plan.source, received)) }
    guard parts.isEmpty else { return parts.joined(separator: ", then ") }
    return switch decision.result {
    case .completedMissing: "does nothing: the finished file is missing"
    case .completedModified: "does nothing: another file has the name of the finished one"
    case .placed, .state, .pending, .waitingFirst, .waitingOrFailed: "does nothing"
    }
  }

  private static func text(of source: TransferPlan.Source, _ received: Int64) -> String {
    switch source {
    case .finalise: "checks the complete file and gives it its name"
    case .resumeData: "continues with the resume data"
    case .range: "continues after \(received) \(received == 1 ? "byte" : "bytes")"
    case .zero: "downloads from the first byte"
    }
  }

  /// The text of an action; `nil` if the plan says it.
  package static func text(of action: ReconcileAction) -> String? {
    switch action {
    case .keepMostBytes: "keeps the transfer with the most bytes"
    case .keepFinished: "keeps the transfer that has ended"
    case .cancelOthers: "cancels the other transfers"
    case .cancelTask: "cancels the transfer"
    case .cancelProducingResumeData: "stops the transfer and keeps its resume data"
    case .adopt: "takes over the transfer"
    case .resumeTask: "resumes the transfer"
    case .wait: "waits until the transfer has ended"
    case .placeDelivered: "checks the delivered file and gives it its name"
    case .placePartial: "gives the complete file its name"
    case .redoRename: "repeats the interrupted rename"
    case .chooseName: "chooses another file name, because another file has this one"
    case .deleteFinal: "deletes the finished file"
    case .deleteDelivered: "deletes what the transfer has delivered"
    case .deletePartial: "deletes the partial file"
    case .dropResumeData: "drops the resume data"
    case .collectOrphan:
      "leaves the file: 'reconcile --apply' and 'purge --orphans' delete it"
    case .commitCompleted: "marks the download as completed"
    case .deleteRecord: "deletes the record"
    case .storeResumeData: "stores the resume data"
    case .classifyStatus: "decides by the answer of the server whether to try again"
    case .truncateToCommitted: "cuts the partial file to the committed bytes"
    case .checkPieces: "checks the pieces of the partial file"
    case .plan, .planFromPartial: nil
    }
  }
}
