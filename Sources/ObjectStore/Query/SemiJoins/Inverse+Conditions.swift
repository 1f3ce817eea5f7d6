extension Inverse {
  /// Objects to which some object refers that meets a condition.
  ///
  /// ```swift
  /// Author.where { $0.born < 1900 && Author.books.anyMatch { $0.genre == .poetry } }
  /// ```
  ///
  /// In a write, what it has changed so far counts. The query of the other model runs first, by its
  /// own plan; what its objects refer to is then looked up, or each object is looked at when most of
  /// them are to be expected.
  public func anyMatch(_ condition: (Referrer.Columns) -> Predicate<Referrer>) -> Predicate<Target>
  {
    let condition = condition(Referrer.columns)
    guard !condition.node.isNever else { return .none }
    let keys = MatchingKeys(
      predicate: condition,
      position: position,
      isCollection: isCollection,
      keyType: Target.PrimaryKey.fieldType
    )
    return Predicate(
      .semiJoin(SemiJoin(position: Target.schema.primaryKeyPosition, other: keys))
    )
  }

  /// Objects to which none refers that fails a condition; those to which none refers at all count.
  ///
  /// As the opposite of ``anyMatch(_:)``.
  public func allMatch(_ condition: (Referrer.Columns) -> Predicate<Referrer>) -> Predicate<Target>
  {
    noneMatch { !condition($0) }
  }

  /// Objects to which none refers that meets a condition; those to which none refers at all count.
  ///
  /// As the opposite of ``anyMatch(_:)``.
  public func noneMatch(_ condition: (Referrer.Columns) -> Predicate<Referrer>) -> Predicate<Target>
  {
    !anyMatch(condition)
  }

  /// Objects to which none refers.
  public var isEmpty: Predicate<Target> { noneMatch { _ in .all } }
}
