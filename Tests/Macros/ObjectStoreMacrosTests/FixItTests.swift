import Testing

@testable import MacrosUnderTest

@Suite struct FixItTests {
  @Test(arguments: [
    ("@Hot var a: Int { 0 }", "remove @Hot", "var a: Int { 0 }"),
    ("@Transient @Indexed var a = 0", "remove @Indexed", "@Transient var a = 0"),
    ("lazy var a: Int = 0", "remove 'lazy'", "var a: Int = 0"),
    ("let a: Int = 0", "use 'var'", "var"),
    ("var a: Int!", "make it 'Int?'", "Int?"),
    ("var a: Optional<Int?>?", "make it 'Int?'", "Int?"),
    ("@PrimaryKey var a: Int?", "make it 'Int'", "Int"),
    ("@PrimaryKey @Hot var a: Int", "remove @Hot", "@PrimaryKey var a: Int"),
    ("@PrimaryKey @Unique var a: Int", "remove @Unique", "@PrimaryKey var a: Int"),
    ("@Indexed var a: [Int: Int]", "remove @Indexed", "var a: [Int: Int]"),
    ("@OnDelete(.deny) var a: Int", "remove @OnDelete", "var a: Int"),
    ("@OnDelete(.nullify) var a: Reference<B>", "make it 'Reference<B>?'", "Reference<B>?"),
  ])
  func `a diagnostic on a property has a fix-it`(
    _ property: String,
    _ message: String,
    _ code: String
  ) {
    let source = "@Model struct Note {\n@PrimaryKey var id: Int\n\(property)\n}"
    #expect(MacroExpander(expanding: source).fixes == [.init(message: message, code: code)])
  }

  @Test func `a fix-it marks a property named id as the primary key`() {
    #expect(
      MacroExpander(expanding: "@Model struct Note {\n  public var id: Int\n}").fixes == [
        .init(message: "mark it with @PrimaryKey", code: "@PrimaryKey public var id: Int")
      ]
    )
    #expect(MacroExpander(expanding: "@Model struct Note { var a: Int }").fixes.isEmpty)
  }

  @Test func `a fix-it removes an attribute outside a model`() {
    #expect(
      MacroExpander(expanding: "struct Note { @Hot var a: Int = 0 }").fixes == [
        .init(message: "remove @Hot", code: "")
      ]
    )
  }
}
