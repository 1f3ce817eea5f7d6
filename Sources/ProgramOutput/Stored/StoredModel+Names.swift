package import ObjectStore

extension StoredModel {
  /// Returns the field with a name.
  ///
  /// - Throws: ``CommandFailure`` with `usage`, and the nearest name.
  package func field(named text: String) throws -> Field {
    if let field = fields.first(where: { $0.name == text }) { return field }
    let names = fields.map(\.name)
    throw CommandFailure(
      .usage,
      "\(name) has no field '\(text)'.\(Suggestion.text(for: text, among: names)) "
        + "The fields are: \(names.joined(separator: " "))"
    )
  }
}

extension Store {
  /// Returns the description of a model.
  ///
  /// - Throws: ``CommandFailure`` with `failed`, and the nearest name; ``StoreError``.
  package func storedModel(named name: String) throws -> StoredModel {
    let models = try storedModels()
    if let model = models.first(where: { $0.name == name }) { return model }
    let names = models.map(\.name)
    throw CommandFailure(
      .failed,
      "\(path) has no model '\(name)'.\(Suggestion.text(for: name, among: names)) "
        + "The models are: \(names.joined(separator: " "))"
    )
  }

  /// Returns the object with a primary key, and its model.
  ///
  /// - Parameters:
  ///   - name: The name of the model.
  ///   - key: The key as a user writes it.
  ///   - shown: Returns the key without secrets, for messages.
  /// - Returns: The model and the object.
  /// - Throws: ``CommandFailure`` with `failed` if there is no such object, or `usage` for a key of
  ///   another type; ``StoreError``.
  package func storedObject(
    of name: String,
    keyText key: String,
    shown: (String) -> String = { $0 }
  ) throws -> (model: StoredModel, object: StoredObject) {
    let model = try storedModel(named: name)
    let type = model.fields.first(where: \.isPrimaryKey)?.type ?? .string
    guard let value = StoredFieldText.value(key, of: type) else {
      throw CommandFailure(
        .usage,
        "'\(key)' is not a key of \(name), which is of type \(type): write "
          + StoredFieldText.example(of: type)
      )
    }
    guard let object = try storedObject(of: name, key: value) else {
      throw CommandFailure(.failed, "\(name) has no object with the key '\(shown(key))'")
    }
    return (model, object)
  }
}
