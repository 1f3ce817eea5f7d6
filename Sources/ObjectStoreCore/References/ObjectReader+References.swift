extension ObjectReader where Self: ~Copyable {
  /// Returns the object to which a reference refers, or `nil` when it does not exist.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the number of objects of the model.
  @inlinable
  public func find<Target: Model>(_ reference: Reference<Target>) throws -> Target? {
    try find(Target.self, key: reference.key)
  }

  /// Returns the objects to which references refer, in the order of the references.
  ///
  /// A reference whose target does not exist, which only ``DeleteRule/keep`` permits, is skipped.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(k log n) for k references and n objects of the model.
  @inlinable
  public func fetch<Target: Model>(
    _ references: some Sequence<Reference<Target>>
  ) throws -> [Target] {
    var objects: [Target] = []
    objects.reserveCapacity(references.underestimatedCount)
    try source.forEachFound(Target.self, keys: references.lazy.map(\.key)) { found in
      objects.append(try found.decode(Target.self))
    }
    return objects
  }
}
