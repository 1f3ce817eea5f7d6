#if canImport(FoundationEssentials)
  public import FoundationEssentials

  /// Foundation's `Predicate` of one value, which shares its name with ``Predicate``.
  public typealias FoundationPredicate<Input> = FoundationEssentials.Predicate<Input>
#else
  public import Foundation

  /// Foundation's `Predicate` of one value, which shares its name with ``Predicate``.
  public typealias FoundationPredicate<Input> = Foundation.Predicate<Input>
#endif

extension Query {
  /// The objects that meet a predicate of Foundation, translated into a condition.
  ///
  /// ```swift
  /// let query = try Query(translating: #Predicate<Note> { $0.rank > 3 && $0.nick == nil })
  /// ```
  ///
  /// For predicates that come from elsewhere: ``Model/where(_:)`` is checked by the compiler. What is
  /// translated: `==`, `!=`, `<`, `<=`, `>`, `>=` and ranges of a property and a value; `&&`, `||`,
  /// `!`, `?:` and `if let`; `nil`, `??`, `?.` and `flatMap`; `contains` and `allSatisfy` of arrays and
  /// sets, with a value or a closure; `contains` of a list that is given; `contains` and `starts(with:)`
  /// of a text; `isEmpty` and `count`. Whatever else is refused, such as properties of an embedded
  /// value, and arithmetic with a property. Nothing is ever found by calling `evaluate`.
  ///
  /// The model must say which field a property is: ``Model/fieldPosition(of:)``, which `@Model` makes.
  ///
  /// It finds what `evaluate` is true for, where the conditions of columns are different too: texts
  /// are equal and ordered as in Swift, so that an index serves `==` and `starts(with:)` of texts in
  /// ASCII alone, and their order never.
  ///
  /// - Throws: ``StoreError`` with `unsupportedPredicate`, which names the expression.
  public init(translating predicate: FoundationPredicate<Root>) throws {
    let translation = PredicateTranslation<Root>(root: predicate.variable.key)
    self.init(try translation.condition(predicate.expression))
  }
}
