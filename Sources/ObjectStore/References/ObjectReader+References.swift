extension ObjectReader where Self: ~Copyable {
  /// The object to which the reference refers, or `nil`.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the objects of the model.
  @inlinable
  public func get<Target: Model>(_ reference: Reference<Target>) throws -> Target? {
    try get(Target.self, reference.key)
  }

  /// The objects to which the references refer, in the order of the references.
  ///
  /// A reference to nothing, which only ``DeleteRule/keep`` allows, is left out.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(k log n) for k references and n objects of the model.
  @inlinable
  public func fetch<Target: Model>(
    _ references: some Sequence<Reference<Target>>
  ) throws -> [Target] {
    guard let reader = unsafe try source.reader(of: Target.self) else { return [] }
    var objects: [Target] = []
    objects.reserveCapacity(references.underestimatedCount)
    for reference in references {
      unsafe try reference.key.withStoredBytes { bytes in
        guard let found = unsafe try reader.find(bytes) else { return }
        objects.append(try found.decode(Target.self))
      }
    }
    return objects
  }
}
