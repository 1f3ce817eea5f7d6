import ObjectStore
import Testing

@testable import MacrosUnderTest

@Suite struct FieldIDTests {
  @Test(arguments: ["", "a", "url", "liquid", "costarring", "größe", "日本", "👩‍🚀"])
  func `the macro derives the id that the store derives`(_ name: String) {
    #expect(FieldID.number(forName: name) == FieldSchema.id(forName: name))
  }
}
