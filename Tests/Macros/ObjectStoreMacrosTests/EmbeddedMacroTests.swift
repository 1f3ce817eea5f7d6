import Testing

@testable import MacrosUnderTest

@Suite struct EmbeddedMacroTests {
  @Test func `the expansion reads and writes each kind of field in order`() {
    let result = MacroExpander(
      expanding: """
        @Embedded(name: "Place")
        public struct Address: Hashable {
          public var street: String
          public let city: String?
          public var reader: Int = 3
          public var country: String? = "DE"
          public var note: String? = nil
          public var tags: Set<String> = []
          @Transient public var isOpen = false
          public var isEmpty: Bool { street.isEmpty }
        }
        """
    )
    #expect(result.problems.isEmpty)
    #expect(
      result.expansion.hasSuffix(
        """
        nonisolated extension Address: ObjectStoreNames.FieldValue {
          /// How the value lies on disk: its fields one after another.
          public static var fieldType: ObjectStoreNames.FieldType { .embedded("Place") }

          /// Reads every field, in the order of their declaration.
          public init(from reader: inout ObjectStoreNames.ByteReader) throws(ObjectStoreNames.RecordError) {
            street = try reader.readField()
            city = try reader.readOptionalField()
            self.reader = try reader.readField(default: 3)
            country = try reader.readOptionalField(default: "DE")
            note = try reader.readOptionalField()
            tags = try reader.readField(default: [])
          }

          /// Writes every field, in the order of their declaration.
          public func encode(to writer: inout ObjectStoreNames.ByteWriter) {
            writer.writeField(street)
            writer.writeField(city)
            writer.writeField(reader)
            writer.writeField(country)
            writer.writeField(note)
            writer.writeField(tags)
          }
        }
        """
      )
    )
  }

  @Test(arguments: ["class", "enum", "actor"])
  func `only a struct can be embedded`(_ introducer: String) {
    #expect(
      MacroExpander(expanding: "@Embedded \(introducer) Address {}").problems == [
        .init(.embeddedNotAStruct(name: "Address", introducer: introducer), at: introducer)
      ]
    )
  }

  @Test(arguments: ["@Indexed", "@PrimaryKey", "@Hot", "@Unique", "@Field(id: 1)"])
  func `a model attribute in an embedded struct is refused`(_ attribute: String) throws {
    let name = try #require(attribute.dropFirst().split(separator: "(").first)
    let marker = try #require(Marker(rawValue: String(name)))
    let result = MacroExpander(expanding: "@Embedded struct Address { \(attribute) var a: Int }")
    #expect(result.problems == [.init(.markerOnEmbedded(marker: marker), at: attribute)])
    #expect(result.fixes == [.init(message: "remove @\(name)", code: "var a: Int")])
  }

  @Test func `properties that cannot be stored in a model cannot be embedded`() {
    let result = MacroExpander(
      expanding: "@Embedded struct Address<T> { var a = 0; lazy var b: Int = 0; var c: [Int?] }"
    )
    #expect(result.problems.count == 4)
    #expect(
      MacroExpander(expanding: "@Embedded struct Address { @Transient var a = 0 }").problems
        == [.init(.emptyEmbedded(name: "Address"), at: "Address")]
    )
    #expect(
      MacroExpander(expanding: "@Embedded(name: name) struct Address { var a: Int }").problems
        == [.init(.modelNameNotLiteral, at: "name")]
    )
  }
}
