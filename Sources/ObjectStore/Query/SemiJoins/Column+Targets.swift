// A column is of one type or the other, so that a call is never ambiguous.
// swift-format-ignore: AmbiguousTrailingClosureOverload
extension Column {
  /// Objects whose field refers to one that meets a condition.
  ///
  /// ```swift
  /// Book.where { $0.author.matches { $0.born < 1800 } }
  /// ```
  ///
  /// A reference to nothing meets none. In a write, what it has changed so far counts.
  ///
  /// The query of the other model runs first, by its own plan; the index of the field then finds
  /// the objects, or each is looked at when most of them are to be expected.
  public func matches<Target: Model>(
    _ condition: (Target.Columns) -> Predicate<Target>
  ) -> Predicate<Root> where Value == Reference<Target> {
    semiJoin(condition(Target.columns))
  }

  /// Objects whose field refers to one that meets a condition; `nil` does not.
  ///
  /// As with a reference that is not optional.
  public func matches<Target: Model>(
    _ condition: (Target.Columns) -> Predicate<Target>
  ) -> Predicate<Root> where Value == Reference<Target>? {
    semiJoin(condition(Target.columns))
  }

  private func semiJoin<Target: Model>(_ condition: Predicate<Target>) -> Predicate<Root> {
    guard !condition.node.isNever else { return .none }
    let keys = MatchingKeys(
      predicate: condition,
      position: Target.schema.primaryKeyPosition,
      isCollection: false,
      keyType: Target.PrimaryKey.fieldType
    )
    return Predicate(.semiJoin(SemiJoin(position: position, other: keys)))
  }
}

extension Column where Value: FieldCollection {
  /// Objects that refer to some object that meets a condition, among others.
  ///
  /// ```swift
  /// Order.where { $0.tags.anyMatch { $0.name == "urgent" } }
  /// ```
  ///
  /// As with one reference. The index of the field finds the objects.
  public func anyMatch<Target: Model>(
    _ condition: (Target.Columns) -> Predicate<Target>
  ) -> Predicate<Root> where Value.Element == Reference<Target> {
    any { $0.matches(condition) }
  }

  /// Objects that refer to none that fails a condition; those that refer to none at all count.
  ///
  /// A reference to nothing says nothing. No index of the collection serves it.
  public func allMatch<Target: Model>(
    _ condition: (Target.Columns) -> Predicate<Target>
  ) -> Predicate<Root> where Value.Element == Reference<Target> {
    noneMatch { !condition($0) }
  }

  /// Objects that refer to none that meets a condition; those that refer to none at all count.
  ///
  /// A reference to nothing says nothing. No index of the collection serves it.
  public func noneMatch<Target: Model>(
    _ condition: (Target.Columns) -> Predicate<Target>
  ) -> Predicate<Root> where Value.Element == Reference<Target> {
    !anyMatch(condition)
  }
}
