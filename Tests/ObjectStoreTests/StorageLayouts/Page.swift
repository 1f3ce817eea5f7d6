import Foundation
import ObjectStore

/// The contents of a page; the models below store it in different layouts.
struct PageContents: Equatable, Sendable {
  var key: Data
  var title: String
  var rank: Int = 0
  var tags: Set<String> = []
  var views: Int64 = 0
}

/// A model of pages, named `Page` in the store.
///
/// The key is bytes, so that a test can choose keys whose hashes collide.
protocol PageModel: Model where PrimaryKey == Data, Columns == PageColumns<Self> {
  init(_ page: PageContents)
  var page: PageContents { get set }
}

struct PageColumns<Root: Model>: Sendable {
  let key = Column<Root, Data>(position: 0)
  let title = Column<Root, String>(position: 1)
  let rank = Column<Root, Int>(position: 2)
  let tags = Column<Root, Set<String>>(position: 3)
  let views = Column<Root, Int64>(position: 4)
}

extension PageModel {
  static func makeSchema(
    _ layout: StorageLayout,
    isUnique: Bool = false,
    isColumnar: Bool = false
  ) -> ModelSchema {
    ModelSchema(
      name: "Page",
      fields: [
        FieldSchema("key", Data.self, isPrimaryKey: true),
        FieldSchema("title", String.self, isIndexed: true, isUnique: isUnique),
        FieldSchema("rank", Int.self, isColumnar: isColumnar),
        FieldSchema("tags", Set<String>.self, isIndexed: true),
        FieldSchema("views", Int64.self, isHot: true),
      ],
      layout: layout
    )
  }

  var primaryKey: Data { page.key }

  init(from record: borrowing RecordView) throws(RecordError) {
    self.init(
      PageContents(
        key: try record.value(at: 0),
        title: try record.value(at: 1),
        rank: try record.value(at: 2),
        tags: try record.value(at: 3),
        views: try record.value(at: 4)
      )
    )
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(page.key)
    record.encode(page.title)
    record.encode(page.rank)
    record.encode(page.tags)
    record.encode(page.views)
  }
}

struct SequentialPage: PageModel {
  static let columns = PageColumns<SequentialPage>()
  static let schema = makeSchema(.sequential)
  var page: PageContents
  init(_ page: PageContents) { self.page = page }
}

/// A page with a column.
struct ColumnarPage: PageModel {
  static let columns = PageColumns<ColumnarPage>()
  static let schema = makeSchema(.sequential, isColumnar: true)
  var page: PageContents
  init(_ page: PageContents) { self.page = page }
}

struct KeyedPage: PageModel {
  static let columns = PageColumns<KeyedPage>()
  static let schema = makeSchema(.byKey)
  var page: PageContents
  init(_ page: PageContents) { self.page = page }
}

struct UniqueKeyedPage: PageModel {
  static let columns = PageColumns<UniqueKeyedPage>()
  static let schema = makeSchema(.byKey, isUnique: true)
  var page: PageContents
  init(_ page: PageContents) { self.page = page }
}
