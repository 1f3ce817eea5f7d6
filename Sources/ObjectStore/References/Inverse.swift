/// The other side of a reference: the objects whose field names a given one.
///
/// Declared once, it reads like a field of the target. It stores nothing: the index over the field
/// answers.
///
/// ```swift
/// extension Customer { static let orders = Inverse(\Order.Columns.customer) }
/// try store.read { tx in
///   try tx.fetch(Customer.orders(of: customer).order(by: \.number))
///   try tx.count(Customer.orders(of: customer))
/// }
/// ```
public struct Inverse<Target: Model, Referrer: Model>: Sendable {
  /// The field that refers.
  let position: Int
  /// Whether it is a collection of references.
  let isCollection: Bool

  /// The objects that refer in a field of one reference.
  public init(_ column: KeyPath<Referrer.Columns, Column<Referrer, Reference<Target>>>) {
    position = Referrer.columns[keyPath: column].position
    isCollection = false
  }

  /// The objects that refer in a field of an optional reference.
  public init(_ column: KeyPath<Referrer.Columns, Column<Referrer, Reference<Target>?>>) {
    position = Referrer.columns[keyPath: column].position
    isCollection = false
  }

  /// The objects that refer in a field of references in order.
  public init(_ column: KeyPath<Referrer.Columns, Column<Referrer, [Reference<Target>]>>) {
    position = Referrer.columns[keyPath: column].position
    isCollection = true
  }

  /// The objects that refer in a field of a set of references.
  public init(_ column: KeyPath<Referrer.Columns, Column<Referrer, Set<Reference<Target>>>>) {
    position = Referrer.columns[keyPath: column].position
    isCollection = true
  }

  /// The objects that refer to that one; any transaction can run the query.
  public func callAsFunction(of target: Target) -> Query<Referrer> {
    callAsFunction(of: Reference(to: target))
  }

  /// The objects that refer to what the reference refers to, which need not be there.
  public func callAsFunction(of target: Reference<Target>) -> Query<Referrer> {
    let field = Column<Referrer, Reference<Target>>(position: position)
    guard isCollection else { return Query(field == target) }
    return Query(Column<Referrer, [Reference<Target>]>(position: position).contains(target))
  }
}

extension ObjectReader where Self: ~Copyable {
  /// The objects that refer to that one, in the order in which they were first stored.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(k log n) for the k objects that refer to it.
  public func referrers<Target: Model, Referrer: Model>(
    to target: Target,
    _ inverse: Inverse<Target, Referrer>
  ) throws -> [Referrer] {
    try fetch(inverse(of: target))
  }
}

extension Column {
  /// Objects whose field refers to that object.
  ///
  /// Served by the index of the field.
  public func refers<Target: Model>(to target: Target) -> Predicate<Root>
  where Value == Reference<Target> {
    self == Reference(to: target)
  }

  /// Objects whose field refers to that object.
  ///
  /// Served by the index of the field.
  public func refers<Target: Model>(to target: Target) -> Predicate<Root>
  where Value == Reference<Target>? {
    self == Reference(to: target)
  }

  /// Objects whose field refers to that object, among others.
  ///
  /// Served by the index of the field.
  public func refers<Target: Model>(to target: Target) -> Predicate<Root>
  where Value == [Reference<Target>] {
    contains(Reference(to: target))
  }

  /// Objects whose field refers to that object, among others.
  ///
  /// Served by the index of the field.
  public func refers<Target: Model>(to target: Target) -> Predicate<Root>
  where Value == Set<Reference<Target>> {
    contains(Reference(to: target))
  }
}
