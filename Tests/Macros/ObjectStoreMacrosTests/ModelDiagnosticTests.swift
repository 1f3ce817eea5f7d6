import Testing

@testable import MacrosUnderTest

@Suite struct ModelDiagnosticTests {
  @Test(arguments: ["class", "enum", "actor"])
  func `only a struct can be a model`(_ introducer: String) {
    let source = "@Model \(introducer) Note {}"
    #expect(
      problems(in: source) == [
        .init(.notAStruct(name: "Note", introducer: introducer), at: introducer)
      ]
    )
  }

  @Test func `a generic struct cannot be a model`() {
    let source = "@Model struct Note<Body> { @PrimaryKey var id: Int }"
    #expect(problems(in: source) == [.init(.generic(name: "Note"), at: "<Body>")])
  }

  @Test func `a struct in a generic type cannot be a model`() {
    let source = "struct Shelf<Content> { @Model struct Note { @PrimaryKey var id: Int } }"
    #expect(problems(in: source) == [.init(.insideGeneric(name: "Note"), at: "Note")])
  }

  @Test func `a struct in another type cannot be a private model`() {
    let source = "enum Shelf { @Model private struct Note { @PrimaryKey var id: Int } }"
    #expect(problems(in: source) == [.init(.privateNested(name: "Note"), at: "private")])
  }

  @Test(arguments: [#""""#, #""a\(1)""#, "oldName"])
  func `a stored name that is empty or not a literal is refused`(_ name: String) {
    let source = "@Model(name: \(name)) struct Note { @PrimaryKey var id: Int }"
    #expect(problems(in: source) == [.init(.modelNameNotLiteral, at: name)])
  }

  @Test(arguments: [".hashed", "layout", "nil"])
  func `a layout that is not written as a known member is refused`(_ layout: String) {
    let source = "@Model(layout: \(layout)) struct Note { @PrimaryKey var id: Int }"
    #expect(problems(in: source) == [.init(.layoutNotLiteral, at: layout)])
  }

  @Test func `the schema has the layout`() {
    let model = "struct Note { @PrimaryKey var id: Int }"
    let keyed = MacroExpander(expanding: "@Model(name: \"N\", layout: .byKey) \(model)").expansion
    #expect(keyed.contains("],\n    layout: .byKey\n  )"))
    #expect(keyed.contains("name: \"N\""))
    #expect(!MacroExpander(expanding: "@Model \(model)").expansion.contains("layout:"))
  }

  @Test(arguments: [".byKey", "StorageLayout.byKey"])
  func `hot fields of a model that is stored by key are refused`(_ layout: String) {
    let body = "{ @PrimaryKey var id: Int; @Hot var views: Int }"
    #expect(
      problems(in: "@Model(layout: \(layout)) struct Note \(body)") == [
        .init(.hotByKey(field: "views"), at: "@Hot")
      ]
    )
    #expect(problems(in: "@Model(layout: .sequential) struct Note \(body)").isEmpty)
  }

  @Test func `columns of a model that is stored by key are refused`() {
    let body = "{ @PrimaryKey var id: Int; @Columnar var views: Int }"
    #expect(
      problems(in: "@Model(layout: .byKey) struct Note \(body)") == [
        .init(.columnarByKey(field: "views"), at: "@Columnar")
      ]
    )
    #expect(problems(in: "@Model struct Note \(body)").isEmpty)
  }

  @Test func `a model without a primary key is refused`() {
    #expect(
      problems(in: "@Model struct Note { var id: Int }") == [
        .init(.noPrimaryKey(model: "Note"), at: "Note")
      ]
    )
  }

  @Test func `a field named primaryKey beside a compound key is refused`() {
    #expect(
      problems(among: "@PrimaryKey var a: Int; var primaryKey: Int") == [
        .init(.compositeKeyNameTaken, at: "primaryKey")
      ]
    )
    #expect(problems(in: "@Model struct Note { @PrimaryKey var primaryKey: Int }").isEmpty)
  }

  @Test func `optional, hot and unique parts of a primary key are refused`() {
    #expect(
      problems(among: "@PrimaryKey var a: Int?; @PrimaryKey @Hot @Unique var b: Int") == [
        .init(.optionalPrimaryKey(field: "a"), at: "@PrimaryKey"),
        .init(.hotPrimaryKey(field: "b"), at: "@Hot"),
        .init(.uniquePrimaryKey(field: "b"), at: "@Unique"),
      ]
    )
  }

  @Test(arguments: ["Int?", "Optional<Int>", "Swift.Optional<Int>"])
  func `a primary key cannot be optional`(_ type: String) {
    #expect(
      problems(in: "@Model struct Note { @PrimaryKey var id: \(type) }") == [
        .init(.optionalPrimaryKey(field: "id"), at: "@PrimaryKey")
      ]
    )
  }

  @Test func `a primary key cannot be hot`() {
    #expect(
      problems(in: "@Model struct Note { @PrimaryKey @Hot var id: Int }") == [
        .init(.hotPrimaryKey(field: "id"), at: "@Hot")
      ]
    )
  }

  @Test(
    arguments: [
      ("var a, b: Int", .init(.severalBindings, at: "a, b: Int")),
      ("var (a, b): (Int, Int)", .init(.severalBindings, at: "(a, b): (Int, Int)")),
      ("var a = 0", .init(.untyped(field: "a"), at: "a")),
      ("lazy var a: Int = 0", .init(.lazy(field: "a"), at: "lazy")),
      ("let a: Int = 0", .init(.constant(field: "a"), at: "= 0")),
      ("let a = 0", .init(.constant(field: "a"), at: "= 0")),
      ("var a: Int!", .init(.implicitlyUnwrapped(field: "a"), at: "Int!")),
      ("var a: Optional<Int>?", .init(.optionalOfOptional(field: "a"), at: "Optional<Int>?")),
      ("var a: [Int?]", .init(.optionalElement(field: "a"), at: "[Int?]")),
      ("var a: Set<Int?>?", .init(.optionalElement(field: "a"), at: "Set<Int?>?")),
      ("var a: [String: [Int?]]", .init(.optionalElement(field: "a"), at: "[String: [Int?]]")),
      (
        "var a: Array<Optional<Int>>",
        .init(.optionalElement(field: "a"), at: "Array<Optional<Int>>")
      ),
      ("@Indexed var a: [String: Int]", .init(.notIndexable(field: "a"), at: "@Indexed")),
      ("@Columnar var a: String?", .init(.notColumnar(field: "a"), at: "@Columnar")),
      ("@Columnar var a: Set<Int>", .init(.notColumnar(field: "a"), at: "@Columnar")),
      ("@Columnar var a: Decimal", .init(.notColumnar(field: "a"), at: "@Columnar")),
      ("@Unique var a: Dictionary<Int, Int>", .init(.notIndexable(field: "a"), at: "@Unique")),
      (
        "@OnDelete(.keep) var a: String?",
        .init(.onDeleteOfNoReference(field: "a"), at: "@OnDelete(.keep)")
      ),
      (
        "@OnDelete(.nullify) var a: Reference<B>",
        .init(.nullifyRequired(field: "a"), at: "@OnDelete(.nullify)")
      ),
      (
        "@OnDelete(DeleteRule.nullify) var a: Reference<B>",
        .init(.nullifyRequired(field: "a"), at: "@OnDelete(DeleteRule.nullify)")
      ),
      ("#if DEBUG\nvar a: Int\n#endif", .init(.conditional, at: "var a: Int")),
      ("#if A\n#if B\nvar a: Int\n#endif\n#endif", .init(.conditional, at: "var a: Int")),
    ] as [(String, MacroExpander.Problem)]
  )
  func `a property that cannot be stored is refused`(
    _ property: String,
    _ problem: MacroExpander.Problem
  ) {
    #expect(problems(among: property) == [problem])
  }

  @Test(arguments: [
    "@Transient var a = 0", "@Transient var a: Int?", "@Transient let a = 0",
    "@Transient var a: Int!", "@Transient lazy var a = 0", "var a: Int { 0 }",
    "var a: Int { get { 0 } set {} }", "static var a = 0", "static let a = 0, b = 1",
    "var a: Int { didSet {} }", "var a: Int = 0 { willSet {} }", "let a: Int",
    "#if DEBUG\n@Transient var a = 0\nvar b: Int { 0 }\nstatic let c = 0\n#endif",
    "@Unique var a: Int?", "@Indexed @Unique var a: [String]", "var a: Box<Int?>",
    "@OnDelete(.nullify) var a: Reference<B>?", "@OnDelete(.nullify) var a: [Reference<B>]",
    "@OnDelete(.nullify) var a: Set<Reference<B>>", "@OnDelete(.cascade) var a: Reference<B>",
    "@OnDelete(.deny) var a: Owner",
    "@Field(id: 0) var a: Int", "@Field(id: 0xFFFF_FFFF) var a: Int", "func f() { var x = 0 }",
  ])
  func `a property that can be stored or is not stored is accepted`(_ property: String) {
    #expect(problems(among: property).isEmpty)
  }

  @Test(arguments: [
    "@Field(id: 7) var a: Int; @Field(id: 0x7) var b: Int",
    "@Field(id: 7) var a: Int; @Field(id: 7) var b: Int",
  ])
  func `two fields with the same explicit id are refused`(_ properties: String) {
    let problem = ModelDiagnostic.sameID(field: "b", other: "a", id: 7)
    let found = problems(among: properties)
    #expect(found.map(\.message) == [problem.message])
    #expect(found.allSatisfy { $0.node.hasPrefix("@Field(id:") })
  }

  @Test func `two fields whose names have the same hash are refused`() {
    let id = FieldID.number(forName: "liquid")
    #expect(
      problems(among: "var costarring: Int; var liquid: Int") == [
        .init(.sameID(field: "liquid", other: "costarring", id: id), at: "liquid")
      ]
    )
  }

  @Test func `a field cannot be renamed from an existing field`() {
    let id = FieldID.number(forName: "a")
    #expect(
      problems(among: #"var a: Int; @Field(renamedFrom: "a") var b: Int"#) == [
        .init(.sameID(field: "b", other: "a", id: id), at: #"@Field(renamedFrom: "a")"#)
      ]
    )
  }

  @Test func `all problems are reported in one expansion`() {
    let found = problems(among: "var a = 0; lazy var b: Int = 0; @Hot var c: Int { 0 }")
    #expect(found.count == 3)
  }

  private func problems(in source: String) -> [MacroExpander.Problem] {
    MacroExpander(expanding: source).problems
  }

  private func problems(among properties: String) -> [MacroExpander.Problem] {
    problems(in: "@Model struct Note {\n@PrimaryKey var id: Int\n\(properties)\n}")
  }
}

extension MacroExpander.Problem {
  init(_ problem: ModelDiagnostic, at node: String) {
    self.init(message: problem.message, node: node)
  }
}
