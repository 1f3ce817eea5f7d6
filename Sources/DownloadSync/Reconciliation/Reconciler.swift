/// Compares what is wanted, recorded, running and on disk, and says what to do.
///
/// Pure and total. The rules are ``ReconcileTable/standard``.
package enum Reconciler {
  /// The decision for a case.
  package static func decide(_ reconcileCase: ReconcileCase) -> ReconcileDecision {
    ReconcileTable.standard.decision(for: reconcileCase)
  }
}
