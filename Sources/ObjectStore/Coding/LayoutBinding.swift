/// How one program reads the records of one layout: where each of its own fields lies in them.
struct LayoutBinding: Sendable {
  /// The layout of the records.
  let layout: RecordLayout
  let number: UInt16
  /// The place of each field of the program's schema, by its position there; `nil` when the layout
  /// has no such field.
  let places: [RecordLayout.Place?]
  /// The program's own fields, by the same positions.
  let fields: [RecordLayout.Field]
  /// Positions, in the layout, of fields that the program's schema does not have.
  let unknownPositions: [Int]

  init(reading layout: RecordLayout, number: UInt16, as own: RecordLayout) {
    self.layout = layout
    self.number = number
    fields = own.fields
    places = own.fields.map { field in
      layout.position(ofID: field.id).map { layout.places[$0] }
    }
    unknownPositions = layout.fields.indices.filter {
      own.position(ofID: layout.fields[$0].id) == nil
    }
  }
}
