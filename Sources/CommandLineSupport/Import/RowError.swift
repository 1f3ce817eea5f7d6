/// The reason why a row of a file cannot be imported.
package struct RowError: Error, Sendable, Hashable {
  /// The first line of the row, from 1.
  package var line: Int
  /// The number of the JSON object, from 1; `nil` for CSV.
  package var object: Int?
  /// The name of the column.
  package var column: String?
  package var reason: String

  package init(line: Int, object: Int? = nil, column: String? = nil, _ reason: String) {
    self.line = line
    self.object = object
    self.column = column
    self.reason = reason
  }
}

extension RowError: CustomStringConvertible {
  package var description: String {
    let object = object.map { ", object \($0)" } ?? ""
    let column = column.map { ", column '\($0)'" } ?? ""
    return "line \(line)\(object)\(column): \(reason)"
  }
}
