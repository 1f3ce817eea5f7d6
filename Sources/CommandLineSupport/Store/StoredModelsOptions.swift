package import ArgumentParser
package import ObjectStore

/// The arguments of a command that describes the models of a store.
package struct StoredModelsOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The model whose fields to list.", valueName: "model"))
  package var name: String?

  @Flag(help: "Print one JSON array with the fields and indexes of each model.")
  package var json = false

  package init() {}

  /// Prints the models, or the fields of one.
  ///
  /// - Throws: ``CommandFailure``; ``StoreError``.
  package func run(in store: Store) throws {
    let models = try name.map { [try store.storedModel(named: $0)] } ?? store.storedModels()
    try StoredModelOutput.print(models, fields: name != nil, json: json)
  }
}
