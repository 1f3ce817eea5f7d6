/// What the planner must know of an index.
struct IndexShape: Sendable, Hashable {
  struct Part: Sendable, Hashable {
    /// The field's position in the program's schema, if it has it.
    var position: Int?
    /// Whether the field is a collection, of which each element has an entry.
    var isCollection = false
  }

  var parts: [Part]
  var isUnique = false
  var longestContent = KeyEncoding.longestContent

  init(parts: [Part], isUnique: Bool = false, longestContent: Int = KeyEncoding.longestContent) {
    self.parts = parts
    self.isUnique = isUnique
    self.longestContent = longestContent
  }

  init(_ index: ModelTables.Index) {
    parts = index.parts.enumerated().map { number, part in
      Part(position: part.position, isCollection: number == index.collectionPart)
    }
    isUnique = index.description.isUnique
    longestContent = index.longestContent
  }
}
