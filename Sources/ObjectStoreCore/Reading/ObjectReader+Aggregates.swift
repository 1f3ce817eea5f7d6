extension ObjectReader where Self: ~Copyable {
  // MARK: Minimum and maximum

  /// Returns the least value of a column among the matches of a query; `nil` if there is none.
  ///
  /// NaN is ignored. The order, the offset and the limit of the query have no effect.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(log n) if an index on the column serves it, otherwise as ``count(_:)``.
  public func min<M: Model, Value: FieldValue & Comparable>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> Value? {
    try extreme(query, M.columns[keyPath: column], .ascending)
  }

  /// Returns the least non-`nil` value of an optional column among the matches of a query.
  ///
  /// Otherwise as for a column that is not optional.
  public func min<M: Model, Value: FieldValue & Comparable>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> Value? {
    try extreme(query, M.columns[keyPath: column].unwrapped, .ascending)
  }

  /// Returns the greatest value of a column among the matches of a query; `nil` if there is none.
  ///
  /// NaN is ignored. The order, the offset and the limit of the query have no effect.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(log n) if an index on the column serves it, otherwise as ``count(_:)``.
  public func max<M: Model, Value: FieldValue & Comparable>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> Value? {
    try extreme(query, M.columns[keyPath: column], .descending)
  }

  /// Returns the greatest non-`nil` value of an optional column among the matches of a query.
  ///
  /// Otherwise as for a column that is not optional.
  public func max<M: Model, Value: FieldValue & Comparable>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> Value? {
    try extreme(query, M.columns[keyPath: column].unwrapped, .descending)
  }

  private func extreme<M: Model, Value: FieldValue & Comparable>(
    _ query: Query<M>,
    _ column: Column<M, Value>,
    _ direction: SortDirection
  ) throws -> Value? {
    var found: Value?
    let usesKeyOrder = Value.self is any KeyOrdered.Type || Value.self == String.self
    guard usesKeyOrder else {
      let filter = column.isNotNaN.map { query.filter && $0 } ?? query.filter
      try forEachValue(ResolvedQuery(filter, in: source), column) { (value: Value) in
        guard let other = found else {
          found = value
          return
        }
        if direction == .ascending ? value < other : other < value { found = value }
      }
      return found
    }
    let order = ColumnOrder(
      position: column.position,
      form: Value.fieldType.keyForm,
      width: Value.fieldType.width,
      direction: direction
    )
    let isPresent = column.isNotNaN ?? column.filter(.isPresent(true), keys: .present)
    let filter = query.filter && isPresent
    let core = try ResolvedQuery(
      filter,
      in: source,
      order: SortOrder(columns: [order], tieDirection: direction),
      takeCount: 1
    )
    try forEachValue(core, column) { found = $0 }
    return found
  }

  // MARK: Sums

  /// Returns the sum of an integer column over the matches of a query; 0 if there are none.
  ///
  /// The order, the offset and the limit of the query have no effect.
  ///
  /// - Throws: ``StoreError`` with `overflow` when the sum does not fit the column's type,
  ///   `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: As ``fetch(_:)->[M]``, reading only the column.
  public func sum<M: Model, Value: FieldValue & FixedWidthInteger>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> Value {
    try sum(query, M.columns[keyPath: column])
  }

  /// Returns the sum of the non-`nil` values of an optional integer column; 0 if there are none.
  ///
  /// Otherwise as for a column that is not optional.
  public func sum<M: Model, Value: FieldValue & FixedWidthInteger>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> Value {
    try sum(query, M.columns[keyPath: column].unwrapped)
  }

  /// Returns the sum of a floating-point column over the matches of a query; 0 if there are none.
  ///
  /// The values are added in insertion order, whatever the plan of the query, so that rounding is
  /// reproducible. The order, the offset and the limit of the query have no effect.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: As ``fetch(_:)->[M]``, reading only the column.
  public func sum<M: Model, Value: FieldValue & BinaryFloatingPoint>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> Value {
    try sum(query, M.columns[keyPath: column])
  }

  /// Returns the sum of the non-`nil` values of an optional floating-point column; 0 if there are
  /// none.
  ///
  /// Otherwise as for a column that is not optional.
  public func sum<M: Model, Value: FieldValue & BinaryFloatingPoint>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> Value {
    try sum(query, M.columns[keyPath: column].unwrapped)
  }

  private func sum<M: Model, Value: FieldValue & FixedWidthInteger>(
    _ query: Query<M>,
    _ column: Column<M, Value>
  ) throws -> Value {
    // 128 bits hold the sum of any possible number of 64-bit values.
    var sum: Int128 = 0
    try forEachNumber(query, column) { bits, form in sum += form.integer(bits) }
    guard let sum = Value(exactly: sum) else {
      throw StoreError(
        .overflow,
        "the sum of \(M.schema.fields[column.position].name) does not fit \(Value.self)"
      )
    }
    return sum
  }

  private func sum<M: Model, Value: FieldValue & BinaryFloatingPoint>(
    _ query: Query<M>,
    _ column: Column<M, Value>
  ) throws -> Value {
    var sum = 0.0
    try forEachNumber(query, column) { bits, form in sum += form.fraction(bits) }
    return Value(sum)
  }

  // MARK: Averages

  /// Returns the average of a column over the matches of a query; `nil` if there are none.
  ///
  /// ```swift
  /// let mean = try store.read { tx in try tx.average(Note.where { $0.rank > 0 }, of: \.rank) }
  /// ```
  ///
  /// The order, the offset and the limit of the query have no effect.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: As ``fetch(_:)->[M]``, reading only the column.
  public func average<M: Model, Value: FieldValue & BinaryInteger>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> Double? {
    try average(query, M.columns[keyPath: column])
  }

  /// Returns the average of the non-`nil` values of an optional column; `nil` if there are none.
  ///
  /// Otherwise as for a column that is not optional.
  public func average<M: Model, Value: FieldValue & BinaryInteger>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> Double? {
    try average(query, M.columns[keyPath: column].unwrapped)
  }

  /// Returns the average of a column over the matches of a query; `nil` if there are none.
  ///
  /// The order, the offset and the limit of the query have no effect.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: As ``fetch(_:)->[M]``, reading only the column.
  public func average<M: Model, Value: FieldValue & BinaryFloatingPoint>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value>>
  ) throws -> Double? {
    try average(query, M.columns[keyPath: column])
  }

  /// Returns the average of the non-`nil` values of an optional column; `nil` if there are none.
  ///
  /// Otherwise as for a column that is not optional.
  public func average<M: Model, Value: FieldValue & BinaryFloatingPoint>(
    _ query: Query<M>,
    of column: KeyPath<M.Columns, Column<M, Value?>>
  ) throws -> Double? {
    try average(query, M.columns[keyPath: column].unwrapped)
  }

  private func average<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    _ column: Column<M, Value>
  ) throws -> Double? {
    var integers: Int128 = 0
    var fractions = 0.0
    var count = 0
    try forEachNumber(query, column) { bits, form in
      if form.form == .number {
        fractions += form.fraction(bits)
      } else {
        integers += form.integer(bits)
      }
      count += 1
    }
    return count == 0 ? nil : (fractions + Double(integers)) / Double(count)
  }

  // MARK: Values of one column

  /// Calls `body` with the bits and the form of each number of a column.
  private func forEachNumber<M: Model, Value: FieldValue>(
    _ query: Query<M>,
    _ column: Column<M, Value>,
    _ body: (UInt64, NumberForm) -> Void
  ) throws {
    guard let form = NumberForm(Value.fieldType) else {
      preconditionFailure("cannot sum a column of type \(Value.self)")
    }
    let core = try ResolvedQuery(query.filter, in: source)
    unsafe try source.forEachContent(core, of: M.self, at: column.position) { content in
      guard case .present(let bytes) = unsafe content else { return }
      guard bytes.count == form.width, let base = bytes.baseAddress else {
        throw StoreError(
          .damaged,
          "\(M.schema.fields[column.position].name) of an object of \(M.schema.name) has the wrong size"
        )
      }
      unsafe body(form.bits(base), form)
    }
  }

  private func forEachValue<M: Model, Value: FieldValue>(
    _ core: ResolvedQuery,
    _ column: Column<M, Value>,
    _ body: (Value) throws -> Void
  ) throws {
    unsafe try source.forEachContent(core, of: M.self, at: column.position) { content in
      guard case .present(let bytes) = unsafe content else { return }
      var reader = unsafe ByteReader(bytes)
      let value: Value
      do throws(RecordError) {
        value = try Value(from: &reader)
      } catch {
        throw StoreError(
          .damaged,
          "\(M.schema.fields[column.position].name) of an object of \(M.schema.name) is damaged",
          cause: error
        )
      }
      try body(value)
    }
  }
}

extension Column where Value: FieldValue {
  /// Matches objects whose field is neither `nil` nor NaN; `nil` if no stored value is NaN.
  fileprivate var isNotNaN: Filter<Root>? {
    let type = Value.fieldType
    if type == .decimal {
      let keys = KeyCondition.bounds(lower: DecimalDigits.bytesAfterNaN, upper: nil, type)
      return filter(keys: keys) { stored throws(RecordError) in
        !stored.isSame(as: DecimalDigits.bytesOfNaN)
      }
    }
    guard let form = NumberForm(type), form.form == .number else { return nil }
    let words = form.comparable
    return filter(.number(NumberTest(form, in: words)), keys: .numbers(form, [words]))
  }
}
