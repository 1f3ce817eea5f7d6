import Testing

@testable import MacrosUnderTest

@Suite struct MarkerDiagnosticTests {
  @Test(arguments: Marker.allCases)
  func `an attribute on a computed or static property is refused`(_ marker: Marker) {
    let attribute = marker.attribute
    let problem = MacroExpander.Problem(.markerOnUnstored(marker: marker), at: attribute)
    #expect(problems(among: "\(attribute) var a: Int { 0 }") == [problem])
    #expect(problems(among: "\(attribute) static var a: Int = 0") == [problem])
  }

  @Test(arguments: Marker.allCases)
  func `an attribute on a method is refused`(_ marker: Marker) {
    let problem = MacroExpander.Problem(.markerOnUnstored(marker: marker), at: marker.attribute)
    #expect(problems(among: "\(marker.attribute) func f() {}") == [problem])
  }

  @Test(arguments: Marker.allCases)
  func `an attribute outside a model is refused`(_ marker: Marker) {
    let source = "struct Note { \(marker.attribute) var a: Int = 0 }"
    let problem = MacroExpander.Problem(.markerOutsideModel(marker: marker), at: marker.attribute)
    #expect(MacroExpander(expanding: source).problems == [problem])
  }

  @Test(arguments: ["@Indexed", "@Hot", "@Field(id: 1)", "@PrimaryKey"])
  func `another attribute on a transient property is refused`(_ attribute: String) throws {
    let name = try #require(attribute.dropFirst().split(separator: "(").first)
    let marker = try #require(Marker(rawValue: String(name)))
    #expect(
      problems(among: "@Transient \(attribute) var a = 0") == [
        .init(.transientWithMarker(marker), at: attribute)
      ]
    )
  }

  @Test(arguments: ["var a: Int", "let a: Int?", "let a: Int"])
  func `a transient property without an initial value is refused`(_ property: String) {
    #expect(
      problems(among: "@Transient \(property)") == [
        .init(.transientWithoutValue(property: "a"), at: "a")
      ]
    )
  }

  @Test(arguments: ["-1", "4294967296", "limit", #""7""#])
  func `an explicit id that is not a 32-bit literal is refused`(_ id: String) {
    #expect(problems(among: "@Field(id: \(id)) var a: Int") == [.init(.idNotLiteral, at: id)])
  }

  @Test(arguments: [#""""#, #""a\(1)""#, "oldName"])
  func `an old name that is empty or not a literal is refused`(_ name: String) {
    #expect(
      problems(among: "@Field(renamedFrom: \(name)) var a: Int") == [
        .init(.oldNameNotLiteral, at: name)
      ]
    )
  }

  @Test func `a second explicit id of a field is refused`() {
    #expect(
      problems(among: #"@Field(id: 1) @Field(renamedFrom: "b") var a: Int"#) == [
        .init(.severalIDs(field: "a"), at: #"@Field(renamedFrom: "b")"#)
      ]
    )
  }

  @Test func `an attribute may be qualified with its module`() {
    let source = """
      @ObjectStoreModel.Model struct Note {
        @ObjectStoreModel.PrimaryKey var id: Int
        @Hot var count: Int
      }
      """
    #expect(MacroExpander(expanding: source).problems.isEmpty)
  }

  private func problems(among properties: String) -> [MacroExpander.Problem] {
    let source = "@Model struct Note {\n@PrimaryKey var id: Int\n\(properties)\n}"
    return MacroExpander(expanding: source).problems
  }
}

extension Marker {
  fileprivate var attribute: String {
    switch self {
    case .field: "@Field(id: 1)"
    case .onDelete: "@OnDelete(.keep)"
    default: "@\(rawValue)"
    }
  }
}
