/// Tells in which fields objects of a model differ, by the bytes that the store would keep.
///
/// For when no history says it.
struct FieldComparison<Root: Model>: ~Copyable {
  private let binding: LayoutBinding
  private var one: RecordEncoder
  private var other: RecordEncoder

  init() {
    let layout = RecordLayout(Root.schema)
    self.init(LayoutBinding(reading: layout, number: 1, as: layout))
  }

  /// Compares in the layout of the binding, which must be the program's own.
  init(_ binding: LayoutBinding) {
    self.binding = binding
    one = RecordEncoder(binding)
    other = RecordEncoder(binding)
  }

  /// As ``ChangeLog/Change/fields``; 0 for objects that are the same.
  mutating func differences(_ left: Root, _ right: Root) throws -> UInt64 {
    Self.encode(left, to: &one)
    Self.encode(right, to: &other)
    do throws(RecordError) {
      return unsafe try RecordView.changedFields(
        from: Self.view(one, binding),
        to: Self.view(other, binding),
        count: binding.places.count
      )
    } catch {
      throw StoreError(error, model: Root.schema.name, objectID: 0)
    }
  }

  /// The positions of the fields that are not in the record as in the object, in order.
  ///
  /// Decodes the record only when its bytes differ: a field that it does not have has its default.
  mutating func positions(
    inWhich record: borrowing RecordView,
    differsFrom object: Root
  ) throws(RecordError) -> [Int] {
    Self.encode(object, to: &one)
    let own = unsafe Self.view(one, binding)
    let count = unsafe binding.places.count
    guard try !RecordView.changedPositions(from: own, to: record, count: count).isEmpty else {
      return []
    }
    Self.encode(try Root(from: record), to: &other)
    return unsafe try RecordView.changedPositions(
      from: own,
      to: Self.view(other, binding),
      count: count
    )
  }

  /// The fields in which `right` differs from `left`, each with its bytes there; `nil` for no value.
  mutating func changes(
    from left: Root,
    to right: Root
  ) throws(RecordError) -> [(position: Int, bytes: [UInt8]?)] {
    Self.encode(left, to: &one)
    Self.encode(right, to: &other)
    let new = unsafe Self.view(other, binding)
    let positions = unsafe try RecordView.changedPositions(
      from: Self.view(one, binding),
      to: new,
      count: binding.places.count
    )
    var changes: [(position: Int, bytes: [UInt8]?)] = []
    for position in positions {
      guard case .present(let bytes) = unsafe try new.content(at: position) else {
        changes.append((position, nil))
        continue
      }
      changes.append((position, unsafe Array(bytes)))
    }
    return changes
  }

  private static func encode(_ object: Root, to encoder: inout RecordEncoder) {
    encoder.start()
    object.encode(to: &encoder)
    encoder.finish()
  }

  @unsafe
  private static func view(
    _ encoder: borrowing RecordEncoder,
    _ binding: LayoutBinding
  ) -> RecordView {
    unsafe RecordView(
      checkedCold: encoder.cold.buffer,
      hot: encoder.hot.buffer,
      hasExtras: false,
      layout: binding.reference
    )
  }
}

extension RecordView {
  /// The positions of the fields of which the two records have different bytes, in order.
  fileprivate static func changedPositions(
    from old: borrowing RecordView,
    to new: borrowing RecordView,
    count: Int
  ) throws(RecordError) -> [Int] {
    var positions: [Int] = []
    for position in 0..<count
    where unsafe !(try old.content(at: position).isSame(as: try new.content(at: position))) {
      positions.append(position)
    }
    return positions
  }
}
