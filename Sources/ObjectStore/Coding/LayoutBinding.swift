/// How one program reads the records of one layout: where each of its own fields lies in them.
@safe  // It owns the memory and lends it no longer than it lives.
@usableFromInline
final class LayoutBinding: Sendable {
  /// The layout of the records.
  let layout: RecordLayout
  let number: UInt16
  /// The place of each field of the program's schema, by its position there.
  var places: UnsafeBufferPointer<FieldPlace> { unsafe UnsafeBufferPointer(ownPlaces) }
  // Filled in `init`, and never changed before it is freed in `deinit`.
  nonisolated(unsafe) private let ownPlaces: UnsafeMutableBufferPointer<FieldPlace>
  /// The program's own fields, by the same positions.
  let fields: [RecordLayout.Field]
  /// Positions, in the layout, of fields that the program's schema does not have.
  let unknownPositions: [Int]
  /// The least size of the parts.
  let coldSize: Int
  let hotSize: Int
  let hasHotFields: Bool

  init(reading layout: RecordLayout, number: UInt16, as own: RecordLayout) {
    self.layout = layout
    self.number = number
    fields = own.fields
    let places = own.fields.map { field in
      layout.position(ofID: field.id).map { layout.places[$0] } ?? .none
    }
    unsafe ownPlaces = .allocate(capacity: places.count)
    _ = unsafe ownPlaces.initialize(from: places)
    unknownPositions = layout.fields.indices.filter {
      own.position(ofID: layout.fields[$0].id) == nil
    }
    coldSize = layout.cold.heapStart
    hotSize = layout.hot.heapStart
    hasHotFields = layout.hasHotFields
  }

  deinit {
    unsafe ownPlaces.deallocate()
  }

  /// The same without a count of references: valid as long as the binding.
  @unsafe var reference: LayoutReference {
    unsafe LayoutReference(
      number: number,
      hasHotFields: hasHotFields,
      coldSize: coldSize,
      hotSize: hotSize,
      places: places,
      binding: self
    )
  }
}
