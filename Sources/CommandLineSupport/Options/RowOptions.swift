package import ArgumentParser

/// The options of an import of another program's rows.
package struct RowOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("With json and csv: the model of the objects.", valueName: "name")
  )
  package var model: String?

  @Option(
    name: .customLong("map"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "With json and csv: the column or key of a field, if it has another name; may be repeated.",
      valueName: "field=column"
    ),
    transform: { text in
      guard let source = FieldSource(text) else {
        throw ValidationError("'\(text)' is not a mapping: write FIELD=COLUMN.")
      }
      return source
    }
  )
  package var sources: [FieldSource] = []

  @Option(
    help: ArgumentHelp(
      "With csv: the ASCII character between two cells; a comma by default.",
      valueName: "character|tab"
    ),
    transform: { text in
      guard let delimiter = CSVDelimiter(text) else {
        throw ValidationError(
          "'\(text)' is not a delimiter: write one ASCII character except a quote, or 'tab'."
        )
      }
      return delimiter
    }
  )
  package var delimiter: CSVDelimiter?

  @Flag(help: "With json and csv: skip columns and keys that supply no field.")
  package var ignoreColumns = false

  @Option(
    help: ArgumentHelp(
      "With json and csv: accept dates as numbers of seconds since 1970 (unix) or since 2001.",
      valueName: "unix|2001"
    )
  )
  package var numericDates: NumericDates?

  @Flag(help: "With json and csv: check the file, and import nothing.")
  package var dryRun = false

  package init() {}

  /// Whether an option is given.
  package var isGiven: Bool {
    model != nil || !sources.isEmpty || ignoreColumns || numericDates != nil || dryRun
  }
}
