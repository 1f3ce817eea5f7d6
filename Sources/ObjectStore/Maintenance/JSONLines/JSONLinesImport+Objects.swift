extension JSONLinesImport {
  /// The object of a line; `nil` when its model is left out.
  mutating func object(_ json: JSONText) throws -> StoredObject? {
    guard case .string(let name) = json["model"], case .object(let members) = json["fields"] else {
      throw failure("it has no model or no fields")
    }
    guard !modelsLeftOut.contains(name) else {
      report.objectsLeftOut += 1
      return nil
    }
    guard let model = schema?.model(name) else { throw failure("there is no model \(name)") }
    var fields: [StoredObject.Field] = []
    for member in members {
      guard let field = model.field(member.name) else {
        throw failure("\(name) has no field \(member.name)")
      }
      if let known = knownFields[name], !known.contains(field.id) {
        report.valuesLeftOut += 1
        continue
      }
      guard let value = StoredValue(json: member.value, type: field.type) else {
        throw failure("the value of \(member.name) is no \(field.type)")
      }
      fields.append(
        StoredObject.Field(id: field.id, name: member.name, type: field.type, value: value)
      )
    }
    guard let key = model.fields.first(where: \.field.isPrimaryKey)?.field,
      let own = fields.first(where: { $0.id == key.id }), !own.value.isNull
    else { throw failure("the primary key is missing") }
    return StoredObject(model: name, fields: fields)
  }
}
