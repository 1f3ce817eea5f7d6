import ObjectStore

enum Colour: String, FieldValue, CaseIterable {
  case red, green, blue
}

/// Its order is not that of its raw values.
enum Priority: String, FieldValue, Comparable, CaseIterable {
  case low, medium, high

  static func < (left: Priority, right: Priority) -> Bool {
    allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
  }
}
