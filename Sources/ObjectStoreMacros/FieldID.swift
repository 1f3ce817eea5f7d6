import SwiftParser
import SwiftSyntax

/// A field's id on disk and its spelling in the expansion.
struct FieldID {
  private(set) var number: UInt32
  /// The argument in the schema; `nil` if the id follows from the field's name.
  private(set) var argument: String?

  /// Parses `@Field(id:)` or `@Field(renamedFrom:)`, or derives the id from the name.
  init(of name: String, markers: Markers, problems: inout Problems) {
    number = Self.number(forName: name)
    argument = nil
    let attributes = markers.attributes.filter { $0.marker == .field }.map(\.attribute)
    if attributes.count > 1 { problems.add(.severalIDs(field: name), at: attributes.last) }
    guard
      let label = attributes.first?.arguments?.as(LabeledExprListSyntax.self)?.first
    else { return }
    let expression = label.expression
    if label.label?.text == "id" {
      let literal = expression.as(IntegerLiteralExprSyntax.self)
      guard let value = literal?.representedLiteralValue.flatMap({ UInt32(exactly: $0) }) else {
        problems.add(.idNotLiteral, at: expression)
        return
      }
      number = value
      argument = expression.trimmedDescription
    } else {
      let literal = expression.as(StringLiteralExprSyntax.self)
      guard let oldName = literal?.representedLiteralValue, !oldName.isEmpty else {
        problems.add(.oldNameNotLiteral, at: expression)
        return
      }
      number = Self.number(forName: oldName)
      argument = "ObjectStoreNames.FieldSchema.id(forName: \(expression.trimmedDescription))"
    }
  }

  /// The same as `FieldSchema.id(forName:)`, which a compiler plugin cannot call: importing it
  /// would link the database into the compiler.
  static func number(forName name: String) -> UInt32 {
    var hash: UInt32 = 2_166_136_261
    for byte in name.utf8 {
      hash = (hash ^ UInt32(byte)) &* 16_777_619
    }
    return hash | 0x8000_0000
  }
}
