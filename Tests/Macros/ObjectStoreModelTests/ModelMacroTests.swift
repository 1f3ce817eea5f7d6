import Foundation
import ObjectStoreModel
import Testing

@Suite struct ModelMacroTests {
  @Test func `the schema has each stored property in order`() {
    #expect(
      Download.schema
        == ModelSchema(
          name: "Download",
          fields: [
            FieldSchema("url", String.self, isPrimaryKey: true),
            FieldSchema("state", Download.State.self, default: .waiting, isIndexed: true),
            FieldSchema("tags", Set<String>.self, default: [], isIndexed: true),
            FieldSchema("received", Int64.self, default: 0, isHot: true, isColumnar: true),
            FieldSchema("created", Date.self),
            FieldSchema("blob", Data.self, isOptional: true),
            FieldSchema("priority", Int.self, optionalDefault: 5, isIndexed: true),
            FieldSchema("note", String.self, id: 7, isOptional: true),
            FieldSchema(
              "attemptCount",
              Int.self,
              id: FieldSchema.id(forName: "attempts"),
              default: 0
            ),
            FieldSchema("history", [Download.State].self, default: []),
          ]
        )
    )
  }

  @Test func `a column has the position and the type of its field`() {
    let columns = Download.columns
    let url: Column<Download, String> = columns.url
    let priority: Column<Download, Int?> = columns.priority
    let history: Column<Download, [Download.State]> = columns.history
    let names = [url.position, priority.position, history.position].map {
      Download.schema.fields[$0].name
    }
    #expect(names == ["url", "priority", "history"])
  }

  @Test func `the memberwise initializer and other members are kept`() {
    let download = Download(url: "https://example.com", created: .distantPast)
    #expect(download.primaryKey == "https://example.com")
    #expect(download.priority == 5)
    #expect(download.isNew && !download.isSelected && download.badge == nil)
    #expect(Download.limit == 3)
  }

  @Test func `a model can have a different stored name`() {
    #expect(
      Memo.schema
        == ModelSchema(
          name: "Note",
          fields: [
            FieldSchema("primaryKey", UUID.self, isPrimaryKey: true),
            FieldSchema("record", Data.self),
            FieldSchema("default", String.self, default: "default"),
            FieldSchema("draft", String.self, default: ""),
          ]
        )
    )
    #expect(Memo.columns.default.position == 2)
    #expect(Memo.field(of: Memo.columns.primaryKey).isPrimaryKey)
  }

  @Test func `a struct can declare the conformance itself`() {
    #expect(Marked(id: 3).primaryKey == 3)
    #expect(
      Marked.schema
        == ModelSchema(
          name: "Marked",
          fields: [FieldSchema("id", UInt8.self, isPrimaryKey: true)]
        )
    )
  }

  @Test func `a nested model can have fields of sibling types`() {
    let binding: Column<Library.Book, Library.Binding> = Library.Book.columns.binding
    #expect(binding.position == 1)
    #expect(
      Library.Book.schema
        == ModelSchema(
          name: "Book",
          fields: [
            FieldSchema("isbn", String.self, isPrimaryKey: true),
            FieldSchema("binding", Library.Binding.self, default: .soft),
            FieldSchema("previous", [Library.Binding].self, isOptional: true),
          ]
        )
    )
    #expect(Library.Reader(number: 4).primaryKey == 4)
    #expect(Library.Reader.schema.fields.map(\.isOptional) == [false, true])
  }

  @Test func `a file-private type can be a model`() {
    #expect(Secret.columns.text.position == 1)
    #expect(Vault.Secret.schema.fields.map(\.name) == ["id"])
  }
}

@Model
private struct Secret {
  @PrimaryKey var id: Int
  private(set) var text: String = ""
}

private enum Vault {
  @Model
  fileprivate struct Secret {
    @PrimaryKey var id: Int
  }
}
