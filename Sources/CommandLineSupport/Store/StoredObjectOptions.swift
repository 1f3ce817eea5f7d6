package import ArgumentParser
package import ObjectStore

/// The arguments of a command that shows one object.
package struct StoredObjectOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The name of the model.", valueName: "model"))
  package var name: String

  @Argument(help: ArgumentHelp("The primary key.", valueName: "key"))
  package var key: String

  @Flag(help: "Print one JSON object.")
  package var json = false

  package init() {}

  /// Prints the object with the key.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - shown: Returns the text of the key for an error.
  ///   - makeOutput: Makes the output of objects of the model.
  /// - Throws: ``CommandFailure``; ``StoreError``.
  package func run(
    in store: Store,
    shown: (String) -> String = { $0 },
    output makeOutput: (StoredModel) throws -> StoredObjectOutput
  ) throws {
    let (model, object) = try store.storedObject(of: name, keyText: key, shown: shown)
    let output = try makeOutput(model)
    let text =
      json
      ? output.json(of: object).prettyText : output.lines(of: object).joined(separator: "\n")
    try Output.current.line(text)
  }
}
