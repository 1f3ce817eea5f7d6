import Foundation
import ObjectStore
import Testing

/// A change of one field of ``Everything``.
struct FieldEdit: Sendable, CustomTestStringConvertible {
  let name: String
  let column: any PartialKeyPath<Everything.Columns> & Sendable
  let isHot: Bool
  /// Sets the field to the value for a small number.
  let set: @Sendable (inout Everything, Int) -> Void
  let copy: @Sendable (inout Everything, Everything) -> Void
  let isSame: @Sendable (Everything, Everything) -> Bool

  var testDescription: String { name }

  init<Value: Equatable & SendableMetatype>(
    _ name: String,
    _ column: any PartialKeyPath<Everything.Columns> & Sendable,
    _ field: any WritableKeyPath<Everything, Value> & Sendable,
    isHot: Bool = false,
    _ value: @escaping @Sendable (Int) -> Value
  ) {
    self.name = name
    self.column = column
    self.isHot = isHot
    set = { $0[keyPath: field] = value($1) }
    copy = { $0[keyPath: field] = $1[keyPath: field] }
    isSame = { $0[keyPath: field] == $1[keyPath: field] }
  }

  /// Every field but the primary key.
  static let all: [FieldEdit] = [
    FieldEdit("flag", \.flag, \.flag) { $0 % 2 == 1 },
    FieldEdit("tiny", \.tiny, \.tiny) { Int8($0) },
    FieldEdit("small", \.small, \.small) { UInt16($0) },
    FieldEdit("count", \.count, \.count) { UInt64($0) },
    FieldEdit("ratio", \.ratio, \.ratio) { Float($0) },
    FieldEdit("score", \.score, \.score) { Double($0) },
    FieldEdit("date", \.date, \.date) { Date(timeIntervalSinceReferenceDate: Double($0)) },
    FieldEdit("uuid", \.uuid, \.uuid) {
      UUID(uuid: (UInt8($0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    },
    FieldEdit("text", \.text, \.text) { String(repeating: "ü", count: $0) },
    FieldEdit("bytes", \.bytes, \.bytes) { Data(repeating: 7, count: $0) },
    FieldEdit("colour", \.colour, \.colour) { [.red, .green, .blue][$0 % 3] },
    FieldEdit("point", \.point, \.point) { Point(x: Int32($0), y: 0) },
    FieldEdit("list", \.list, \.list) { (0..<$0).map { "\($0)" } },
    FieldEdit("tags", \.tags, \.tags) { Set((0..<$0).map { "\($0)" }) },
    FieldEdit("map", \.map, \.map) { ["n": $0] },
    FieldEdit("received", \.received, \.received, isHot: true) { Int64($0) },
    FieldEdit("note", \.note, \.note) { $0 == 0 ? nil : "\($0)" },
    FieldEdit("age", \.age, \.age) { $0 == 0 ? nil : $0 },
    FieldEdit("hotNote", \.hotNote, \.hotNote, isHot: true) { $0 == 0 ? nil : "\($0)" },
  ]
}
