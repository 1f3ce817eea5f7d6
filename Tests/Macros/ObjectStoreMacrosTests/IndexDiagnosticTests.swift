import Testing

@testable import MacrosUnderTest

@Suite struct IndexDiagnosticTests {
  @Test(arguments: ["#Index", "#Unique"])
  func `a compound index is part of the schema`(_ macro: String) {
    let result = MacroExpander(
      expanding: """
        @Model struct Note {
          \(macro)<Note>([\\.a, \\Note.`default`], [\\.`default`, \\.a])
          @PrimaryKey var id: Int
          var a: Set<Int>
          var `default`: String
        }
        """
    )
    let unique = macro == "#Unique" ? ", isUnique: true" : ""
    #expect(result.problems.isEmpty)
    #expect(
      result.expansion.contains(
        """
            ],
            indexes: [
              ObjectStoreNames.IndexSchema(on: "a", "default"\(unique)),
              ObjectStoreNames.IndexSchema(on: "default", "a"\(unique)),
            ]
          )
        """
      )
    )
    #expect(!result.expansion.contains("#"))
  }

  @Test(arguments: [#"["a"]"#, #"fields"#, #"[]"#, #"[\.a.count]"#, #"[\.[0]]"#])
  func `an index that is not a list of key paths is refused`(_ list: String) {
    let found = problems(among: "#Index<Note>(\(list))")
    #expect(found.map(\.message) == [ModelDiagnostic.indexNotLiteral.message])
  }

  @Test(arguments: ["c", "transient", "computed"])
  func `an index on a property that is not stored is refused`(_ name: String) {
    #expect(
      problems(
        among: #"#Index<Note>([\.\#(name)]); @Transient var transient = 0; var computed: Int { 0 }"#
      ) == [.init(.indexOnUnstored(name: name), at: #"\.\#(name)"#)]
    )
  }

  @Test func `an index with repeated fields, two collections or nine fields is refused`() {
    #expect(
      problems(among: #"#Index<Note>([\.a, \.b, \.a])"#) == [
        .init(.repeatedInIndex(field: "a"), at: #"\.a"#)
      ]
    )
    #expect(
      problems(among: #"#Index<Note>([\.c, \.d]); var c: [Int]; var d: Set<Int>"#) == [
        .init(.severalCollections(first: "c", second: "d"), at: #"[\.c, \.d]"#)
      ]
    )
    #expect(
      problems(among: #"#Unique<Note>([\.c]); var c: [Int: Int]"#) == [
        .init(.notIndexable(field: "c"), at: #"\.c"#)
      ]
    )
    let names = (0..<9).map { "x\($0)" }
    let fields = names.map { "var \($0): Int" }.joined(separator: "\n")
    let paths = names.map { #"\.\#($0)"# }
    #expect(
      problems(among: "#Index<Note>([\(paths.joined(separator: ", "))])\n\(fields)").map(\.message)
        == [ModelDiagnostic.indexTooLong.message]
    )
    let eight = paths.prefix(8).joined(separator: ", ")
    #expect(problems(among: "#Index<Note>([\(eight)])\n\(fields)").isEmpty)
  }

  @Test func `two indexes on the same fields are refused`() {
    let first = #"#Index<Note>([\.a, \.b])"#
    let second = #"#Unique<Note>([\.a, \.b])"#
    #expect(
      problems(among: "\(first); \(second)") == [.init(.sameIndex(fields: "a, b"), at: second)]
    )
    let single = #"#Index<Note>([\.c])"#
    #expect(
      problems(among: "@Indexed var c: Int; \(single)") == [
        .init(.sameIndex(fields: "c"), at: single)
      ]
    )
    #expect(problems(among: #"\#(first); #Index<Note>([\.b, \.a])"#).isEmpty)
  }

  @Test(arguments: ["#Index", "#Unique"])
  func `an index outside a model is refused`(_ macro: String) {
    let node = #"\#(macro)<Note>([\.a])"#
    #expect(
      MacroExpander(expanding: "struct Note { \(node); var a: Int }").problems == [
        .init(.indexOutsideModel(macro: String(macro.dropFirst())), at: node)
      ]
    )
  }

  private func problems(among members: String) -> [MacroExpander.Problem] {
    MacroExpander(
      expanding: """
        @Model struct Note {
        @PrimaryKey var id: Int
        var a: Int
        var b: Int
        \(members)
        }
        """
    ).problems
  }
}
