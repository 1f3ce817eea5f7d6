/// What reading a record needs of its layout's binding.
///
/// Plain values: a record costs no counting of references, which threads that read one model would
/// do in one place of the memory. The tables of the model keep the binding and with it the places;
/// nothing that is lent to read outlives them.
@unsafe
struct LayoutReference {
  let number: UInt16
  let hasHotFields: Bool
  /// The least size of the parts.
  let coldSize: Int
  let hotSize: Int
  /// The place of each field of the program's schema, by its position there.
  let places: UnsafeBufferPointer<FieldPlace>
  unowned(unsafe) let binding: LayoutBinding
}

// Pointers to what never changes.
extension LayoutReference: @unchecked Sendable {}
