/// Tells in which fields two objects of a model differ, by the bytes that the store would keep.
///
/// For when no history says it.
struct FieldComparison<Root: Model>: ~Copyable {
  private let binding: LayoutBinding
  private var one: RecordEncoder
  private var other: RecordEncoder

  init() {
    let layout = RecordLayout(Root.schema)
    binding = LayoutBinding(reading: layout, number: 1, as: layout)
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
