import ObjectStore

enum Colour: String, FieldValue, CaseIterable {
  case red, green, blue
}

/// An enumeration whose order differs from the order of its raw values.
enum Priority: String, FieldValue, Comparable, CaseIterable {
  case low, medium, high

  static func < (left: Priority, right: Priority) -> Bool {
    allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
  }
}
