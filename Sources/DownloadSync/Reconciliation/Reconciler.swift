/// Decides what to do about a download, given its command, record, task and files.
///
/// Pure and total: the decision depends on nothing but the case, and every case has one. The rules
/// are ``ReconcileTable/standard``.
package enum Reconciler {
  /// Returns the decision for a case.
  package static func decide(_ reconcileCase: ReconcileCase) -> ReconcileDecision {
    ReconcileTable.standard.decision(for: reconcileCase)
  }
}
