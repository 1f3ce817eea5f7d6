import ObjectStore

/// The fields of an article in all versions of the program.
struct Contents: Sendable {
  var url: String
  var title: String
  var note: String
  var year: Int64
  var stars: Int64
  var views: Int64

  static func url(_ number: Int) -> String { "https://example.com/articles/\(number)" }

  /// Returns the contents of the article with a number.
  static func sample(_ number: Int) -> Contents {
    // Spreads the numbers, so that titles are not in the order of the objects.
    let mixed = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
    return Contents(
      url: url(number),
      title: "\(mixed >> 44) articles on one subject",
      note: String(repeating: "text ", count: 8 + Int(mixed % 16)),
      year: 1_900 + Int64(mixed % 125),
      stars: Int64(mixed % 5),
      views: Int64(number)
    )
  }
}

/// A version of the model.
protocol Article: Model where PrimaryKey == String, Columns == ArticleColumns<Self> {
  var contents: Contents { get set }
  init(_ contents: Contents)
}

struct ArticleColumns<Root: Model>: Sendable {
  let title = Column<Root, String>(position: 1)
}

extension Article {
  var primaryKey: String { contents.url }

  static func makeSchema(
    isTitleIndexed: Bool = false,
    areViewsHot: Bool = true,
    adding more: [FieldSchema] = []
  ) -> ModelSchema {
    ModelSchema(
      name: "Article",
      fields: [
        FieldSchema("url", String.self, isPrimaryKey: true),
        FieldSchema("title", String.self, isIndexed: isTitleIndexed),
        FieldSchema("note", String.self),
        FieldSchema("year", Int64.self),
        FieldSchema("stars", Int64.self),
        FieldSchema("views", Int64.self, isHot: areViewsHot),
      ] + more
    )
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    self.init(
      Contents(
        url: try record.value(at: 0),
        title: try record.value(at: 1),
        note: try record.value(at: 2),
        year: try record.value(at: 3),
        stars: try record.value(at: 4),
        views: try record.value(at: 5)
      )
    )
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(contents.url)
    record.encode(contents.title)
    record.encode(contents.note)
    record.encode(contents.year)
    record.encode(contents.stars)
    record.encode(contents.views)
    if Self.schema.fields.count > 6 { record.encode(nil as Int64?) }
  }
}

/// The first version.
struct PlainArticle: Article {
  static let columns = ArticleColumns<PlainArticle>()
  static let schema = makeSchema()
  var contents: Contents
  init(_ contents: Contents) { self.contents = contents }
}

/// A version with another field.
struct RatedArticle: Article {
  static let columns = ArticleColumns<RatedArticle>()
  static let schema = makeSchema(adding: [FieldSchema("rating", Int64.self, isOptional: true)])
  var contents: Contents
  init(_ contents: Contents) { self.contents = contents }
}

/// A version that has moved a field.
struct ColdArticle: Article {
  static let columns = ArticleColumns<ColdArticle>()
  static let schema = makeSchema(areViewsHot: false)
  var contents: Contents
  init(_ contents: Contents) { self.contents = contents }
}

/// A version with an index.
struct IndexedArticle: Article {
  static let columns = ArticleColumns<IndexedArticle>()
  static let schema = makeSchema(isTitleIndexed: true)
  var contents: Contents
  init(_ contents: Contents) { self.contents = contents }
}

/// A version in which the year is a text.
struct RetypedArticle: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Article",
    fields: PlainArticle.schema.fields.map { field in
      field.name == "year" ? FieldSchema("year", String.self) : field
    }
  )
  static let step = makeStep(.atOpen)
  static let stepWhenRead = makeStep(.whenRead)

  private static func makeStep(_ mode: MigrationStep.Mode) -> MigrationStep {
    MigrationStep(
      "write years as text",
      to: 2,
      mode: mode,
      [
        .change("Article", fields: ["year"]) { old, new in
          new.set("year", to: String(try old.value("year", as: Int64.self)))
        }
      ]
    )
  }

  var contents: Contents
  var year: String
  var primaryKey: String { contents.url }

  init(from record: borrowing RecordView) throws(RecordError) {
    year = try record.value(at: 3)
    contents = Contents(
      url: try record.value(at: 0),
      title: try record.value(at: 1),
      note: try record.value(at: 2),
      year: 0,
      stars: try record.value(at: 4),
      views: try record.value(at: 5)
    )
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(contents.url)
    record.encode(contents.title)
    record.encode(contents.note)
    record.encode(year)
    record.encode(contents.stars)
    record.encode(contents.views)
  }
}
