/// The sort order of a query: a field and a direction.
package struct StoredOrderOption: Sendable, Hashable {
  package var field: String
  package var isDescending: Bool

  /// Parses `FIELD`, `FIELD:asc` or `FIELD:desc`; `nil` for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let name = parts.first, !name.isEmpty, parts.count <= 2,
      parts.count == 1 || parts[1] == "asc" || parts[1] == "desc"
    else { return nil }
    field = String(name)
    isDescending = parts.last == "desc" && parts.count == 2
  }
}
