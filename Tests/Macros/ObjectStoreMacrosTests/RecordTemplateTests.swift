import Testing

@Suite struct RecordTemplateTests {
  @Test func `the templates are found`() {
    #expect(!RecordTemplate.all.isEmpty)
  }

  @Test(arguments: RecordTemplate.all)
  func `the checked-in expansion matches the template`(_ template: RecordTemplate) throws {
    let expansion = try template.expanded()
    if RecordTemplate.isUpdating { try template.write(expansion) }
    let expected = RecordTemplate.contents(of: expansion)
    let actual = RecordTemplate.contents(of: try template.checkedIn())
    // Reports the first difference instead of two complete files.
    let isCurrent = expected == actual
    let difference = zip(expected, actual).first { $0 != $1 }
    #expect(
      isCurrent,
      """
      \(template.name).swift is not the expansion of \(template.name).model: run `make models`. \
      First difference: \(difference.map { "expected \($0), found \($1)" } ?? "the length")
      """
    )
  }

  @Test func `the expansion keeps comments and other declarations`() throws {
    let template = """
      // A comment at the top.

      import ObjectStore

      /// A note.
      ///
      /// With a second paragraph.
      @Model
      public struct Note {
        /// The key.
        @PrimaryKey public var id: Int64
        @Indexed
        /// The text.
        public var text: String  // At the end of a line.
        // Alone.
        @Transient public var isOpen = false

        /// Not a field.
        public var length: Int { text.count }
      }

      /// Something else.
      enum Other {
        case one
      }

      """
    let expansion = try RecordTemplate.expand(template, name: "Note")
    #expect(
      expansion.hasPrefix(
        """
        // Expanded from Note.model by the @Model macro. Do not edit: change the template and run \
        `make models`.
        // A comment at the top.

        import ObjectStore

        /// A note.
        ///
        /// With a second paragraph.
        public struct Note {
          /// The key.
          public var id: Int64
          /// The text.
          public var text: String  // At the end of a line.
          // Alone.
          public var isOpen = false

          /// Not a field.
          public var length: Int { text.count }
        }

        """
      )
    )
    #expect(expansion.contains("\nnonisolated extension Note: ObjectStoreNames.Model {\n"))
    #expect(expansion.contains("\n/// Something else.\nenum Other {\n  case one\n}\n"))
  }

  @Test func `a template with an invalid model throws`() {
    #expect(throws: ExpansionFailure.self) {
      try RecordTemplate.expand("@Model struct Note { var id: Int64 }", name: "Note")
    }
  }

  @Test func `the comparison ignores formatting, but not tokens and comments`() {
    let contents = RecordTemplate.contents(of: "/// One.\nlet a = [1, 2] // Two.")
    #expect(contents == RecordTemplate.contents(of: "  /// One.\nlet a\n =  [1,2]\n// Two."))
    #expect(contents != RecordTemplate.contents(of: "/// One.\nlet a = [1, 3] // Two."))
    #expect(contents != RecordTemplate.contents(of: "/// Two.\nlet a = [1, 2] // Two."))
  }
}
