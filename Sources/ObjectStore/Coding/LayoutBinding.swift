/// How one program reads the records of one layout: where each of its own fields lies in them.
@usableFromInline
final class LayoutBinding: Sendable {
  /// The layout of the records.
  let layout: RecordLayout
  let number: UInt16
  /// The place of each field of the program's schema, by its position there.
  let places: ContiguousArray<FieldPlace>
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
    places = ContiguousArray(
      own.fields.map { field in
        layout.position(ofID: field.id).map { layout.places[$0] } ?? .none
      }
    )
    unknownPositions = layout.fields.indices.filter {
      own.position(ofID: layout.fields[$0].id) == nil
    }
    coldSize = layout.cold.heapStart
    hotSize = layout.hot.heapStart
    hasHotFields = layout.hasHotFields
  }
}
