/// The objects of an observed query, and how they differ from those of the element before.
public struct ResultChange<Root: Model>: Sendable {
  /// The objects as they are now.
  public var snapshot: ResultSnapshot<Root>
  /// The objects to which the differences are: the snapshot of the element before, and in it, as
  /// they are now, the objects that only writes of which the sequence does not hear have changed
  /// since.
  public var base: ResultSnapshot<Root>
  /// The places, in ``base``, of objects that are not in the result any more, or have moved; in order.
  public var deletions: [Int] = []
  /// The places, in this snapshot, of objects that were not in the result before, or have moved;
  /// in order.
  public var insertions: [Int] = []
  /// The places, in this snapshot, of objects that were in the result and have changed; in order.
  ///
  /// One that has moved is among the deletions and the insertions instead.
  public var modifications: [Int] = []
  /// Whether this is the first element, which tells no change.
  public var isInitial = false
  /// The point of the history that the snapshot shows; `nil` when the store has no history.
  public var token: HistoryToken?

  /// Whether the result is as it was before.
  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
