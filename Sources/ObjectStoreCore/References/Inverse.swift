/// The inverse of a reference field: the objects that refer to a given object.
///
/// Declare it as a static property of the target. It stores nothing; the index of the reference
/// field answers its queries.
///
/// ```swift
/// extension Customer { static let orders = Inverse(\Order.Columns.customer) }
/// try store.read { tx in
///   try tx.fetch(Customer.orders(of: customer).order(by: \.number))
///   try tx.count(Customer.orders(of: customer))
/// }
/// ```
public struct Inverse<Target: Model, Referrer: Model>: Sendable {
  /// The position of the reference field.
  let position: Int
  /// Whether the field is a collection of references.
  let isCollection: Bool

  /// Creates the inverse of a reference.
  public init(_ column: KeyPath<Referrer.Columns, Column<Referrer, Reference<Target>>>) {
    position = Referrer.columns[keyPath: column].position
    isCollection = false
  }

  /// Creates the inverse of an optional reference.
  public init(_ column: KeyPath<Referrer.Columns, Column<Referrer, Reference<Target>?>>) {
    position = Referrer.columns[keyPath: column].position
    isCollection = false
  }

  /// Creates the inverse of an array of references.
  public init(_ column: KeyPath<Referrer.Columns, Column<Referrer, [Reference<Target>]>>) {
    position = Referrer.columns[keyPath: column].position
    isCollection = true
  }

  /// Creates the inverse of a set of references.
  public init(_ column: KeyPath<Referrer.Columns, Column<Referrer, Set<Reference<Target>>>>) {
    position = Referrer.columns[keyPath: column].position
    isCollection = true
  }

  /// Returns a query for the objects that refer to an object.
  public func callAsFunction(of target: Target) -> Query<Referrer> {
    callAsFunction(of: Reference(to: target))
  }

  /// Returns a query for the objects that hold a reference; its target need not exist.
  public func callAsFunction(of target: Reference<Target>) -> Query<Referrer> {
    let field = Column<Referrer, Reference<Target>>(position: position)
    guard isCollection else { return Query(field == target) }
    return Query(Column<Referrer, [Reference<Target>]>(position: position).contains(target))
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Returns the objects that refer to an object, in insertion order.
  ///
  /// ```swift
  /// let orders = try tx.referrers(to: customer, Customer.orders)
  /// ```
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(k log n) for k referring objects.
  public func referrers<Target: Model, Referrer: Model>(
    to target: Target,
    _ inverse: Inverse<Target, Referrer>
  ) throws -> [Referrer] {
    try fetch(inverse(of: target))
  }
}

extension Column {
  /// Matches objects whose field refers to the object.
  ///
  /// Uses the index of the field.
  public func refers<Target: Model>(to target: Target) -> Filter<Root>
  where Value == Reference<Target> {
    self == Reference(to: target)
  }

  /// Matches objects whose field refers to the object.
  ///
  /// Uses the index of the field.
  public func refers<Target: Model>(to target: Target) -> Filter<Root>
  where Value == Reference<Target>? {
    self == Reference(to: target)
  }

  /// Matches objects one of whose references refers to the object.
  ///
  /// Uses the index of the field.
  public func refers<Target: Model>(to target: Target) -> Filter<Root>
  where Value == [Reference<Target>] {
    contains(Reference(to: target))
  }

  /// Matches objects one of whose references refers to the object.
  ///
  /// Uses the index of the field.
  public func refers<Target: Model>(to target: Target) -> Filter<Root>
  where Value == Set<Reference<Target>> {
    contains(Reference(to: target))
  }
}
