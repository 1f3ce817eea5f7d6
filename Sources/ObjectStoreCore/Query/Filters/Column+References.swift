// Each column has exactly one of these types, so a call is never ambiguous.
// swift-format-ignore: AmbiguousTrailingClosureOverload
extension Column {
  /// Matches objects whose field refers to an object that meets a condition.
  ///
  /// ```swift
  /// Book.where { $0.author.matches { $0.born < 1800 } }
  /// ```
  ///
  /// A reference to an object that does not exist never matches. In a write transaction, the
  /// condition sees the changes of that transaction.
  ///
  /// The query on the other model runs first, with its own plan. The index of the field then finds
  /// the objects; if the other query found too many keys, every object is tested instead.
  public func matches<Target: Model>(
    _ condition: (Target.Columns) -> Filter<Target>
  ) -> Filter<Root> where Value == Reference<Target> {
    semiJoin(condition(Target.columns))
  }

  /// Matches objects whose field refers to an object that meets a condition; `nil` does not match.
  ///
  /// Otherwise as for a reference that is not optional.
  public func matches<Target: Model>(
    _ condition: (Target.Columns) -> Filter<Target>
  ) -> Filter<Root> where Value == Reference<Target>? {
    semiJoin(condition(Target.columns))
  }

  private func semiJoin<Target: Model>(_ condition: Filter<Target>) -> Filter<Root> {
    guard !condition.node.isNever else { return .none }
    let keys = MatchingKeys(
      filter: condition,
      position: Target.schema.primaryKeyPosition,
      isCollection: false,
      keyType: Target.PrimaryKey.fieldType
    )
    return Filter(.semiJoin(SemiJoin(position: position, other: keys)))
  }
}

extension Column where Value: FieldCollection {
  /// Matches objects with at least one reference to an object that meets a condition.
  ///
  /// ```swift
  /// Order.where { $0.tags.anyMatch { $0.name == "urgent" } }
  /// ```
  ///
  /// Otherwise as for a single reference. An index on the field serves it.
  public func anyMatch<Target: Model>(
    _ condition: (Target.Columns) -> Filter<Target>
  ) -> Filter<Root> where Value.Element == Reference<Target> {
    any { $0.matches(condition) }
  }

  /// Matches objects whose references all lead to objects that meet a condition.
  ///
  /// An object without references matches. References to objects that do not exist are ignored. No
  /// index on the field serves it.
  ///
  /// ```swift
  /// Order.where { $0.tags.allMatch { $0.isPublic == true } }
  /// ```
  public func allMatch<Target: Model>(
    _ condition: (Target.Columns) -> Filter<Target>
  ) -> Filter<Root> where Value.Element == Reference<Target> {
    noneMatch { !condition($0) }
  }

  /// Matches objects without a reference to an object that meets a condition.
  ///
  /// An object without references matches. References to objects that do not exist are ignored. No
  /// index on the field serves it.
  ///
  /// ```swift
  /// Order.where { $0.tags.noneMatch { $0.name == "draft" } }
  /// ```
  public func noneMatch<Target: Model>(
    _ condition: (Target.Columns) -> Filter<Target>
  ) -> Filter<Root> where Value.Element == Reference<Target> {
    !anyMatch(condition)
  }
}

extension Inverse {
  /// Matches objects to which at least one object that meets a condition refers.
  ///
  /// ```swift
  /// Author.where { $0.born < 1900 && Author.books.anyMatch { $0.genre == .poetry } }
  /// ```
  ///
  /// In a write transaction, the condition sees the changes of that transaction. The query on the
  /// other model runs first, with its own plan. The objects to which its results refer are then
  /// looked up; if there are too many, every object is tested instead.
  public func anyMatch(_ condition: (Referrer.Columns) -> Filter<Referrer>) -> Filter<Target> {
    let condition = condition(Referrer.columns)
    guard !condition.node.isNever else { return .none }
    let keys = MatchingKeys(
      filter: condition,
      position: position,
      isCollection: isCollection,
      keyType: Target.PrimaryKey.fieldType
    )
    return Filter(
      .semiJoin(SemiJoin(position: Target.schema.primaryKeyPosition, other: keys))
    )
  }

  /// Matches objects to which only objects that meet a condition refer.
  ///
  /// An object to which no object refers matches. The negation of ``anyMatch(_:)`` with the negated
  /// condition; no index serves it.
  public func allMatch(_ condition: (Referrer.Columns) -> Filter<Referrer>) -> Filter<Target> {
    noneMatch { !condition($0) }
  }

  /// Matches objects to which no object that meets a condition refers.
  ///
  /// The negation of ``anyMatch(_:)``; no index serves it.
  ///
  /// ```swift
  /// Author.where { _ in Author.books.noneMatch { $0.genre == .poetry } }
  /// ```
  public func noneMatch(_ condition: (Referrer.Columns) -> Filter<Referrer>) -> Filter<Target> {
    !anyMatch(condition)
  }

  /// Matches objects to which no object refers.
  public var isEmpty: Filter<Target> { noneMatch { _ in .all } }
}
