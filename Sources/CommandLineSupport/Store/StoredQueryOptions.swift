package import ArgumentParser
package import ObjectStore

/// The arguments of a command that queries a model without its Swift type.
package struct StoredQueryOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The name of the model.", valueName: "model"))
  package var name: String

  @Option(
    name: .customLong("where"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "List objects whose field meets the condition; given several times, all must hold.",
      discussion: "The operators are = != < <= > >= ~ (contains the text) and ^= (starts with it).",
      valueName: "field=value"
    ),
    transform: { text in
      guard let condition = FieldCondition(text) else {
        throw ValidationError(
          "'\(text)' is not a condition: write FIELD=VALUE, or another operator: != < <= > >= ~ ^=."
        )
      }
      return condition
    }
  )
  package var conditions: [FieldCondition] = []

  @Option(
    name: .customLong("sort"),
    help: ArgumentHelp(
      "Sort by a field; objects without a value come last.",
      valueName: "field[:desc]"
    ),
    transform: { text in
      guard let order = StoredOrderOption(text) else {
        throw ValidationError("'\(text)' is not a sort order: write FIELD or FIELD:desc.")
      }
      return order
    }
  )
  package var order: StoredOrderOption?

  @Option(
    help: ArgumentHelp("List at most this many, from 0.", valueName: "n"),
    transform: { try WholeNumber.parse($0, from: 0) }
  )
  package var limit: Int?

  @Option(
    help: ArgumentHelp("Show these fields, in this order.", valueName: "field[,field]"),
    transform: { $0.split(separator: ",").map(String.init) }
  )
  package var fields: [String] = []

  @Option(help: "The output format.")
  package var format = OutputFormat.table

  @Flag(help: "Print the number of objects only.")
  package var count = false

  package init() {}

  /// Prints the objects of a model.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - makeOutput: Makes the output of objects of the model with these fields.
  /// - Throws: ``CommandFailure``; ``StoreError``.
  package func run(
    in store: Store,
    output makeOutput: (StoredModel, [String]) throws -> StoredObjectOutput
  ) throws {
    let model = try store.storedModel(named: name)
    let output = try makeOutput(model, fields)
    let conditions = try conditions.map { try $0.resolved(in: model) }
    let sort = try order.map { order in
      StoredOrder(
        fieldID: try model.field(named: order.field).id,
        direction: order.isDescending ? .descending : .ascending
      )
    }
    guard !count else {
      let found = try store.countStoredObjects(of: name, where: conditions, limit: limit ?? .max)
      return try Output.current.line("\(found)")
    }
    var writer = StoredObjectWriter(format: format, output: output)
    try store.forEachStoredObject(
      of: name,
      where: conditions,
      order: sort,
      limit: limit ?? .max
    ) { object in
      try writer.add(object)
      return true
    }
    try writer.finish()
  }
}
