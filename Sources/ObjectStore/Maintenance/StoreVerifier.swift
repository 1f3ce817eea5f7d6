internal import LMDB

/// Compares everything that a store holds with everything else, in one snapshot.
@unsafe
struct StoreVerifier {
  private let transaction: TransactionReference
  private let schema: StoredSchema

  init(_ transaction: borrowing ReadTransaction, _ schema: StoredSchema) {
    unsafe self.transaction = TransactionReference(transaction)
    unsafe self.schema = schema
  }

  func run(
    _ report: inout VerificationReport,
    progress: (ObjectStore.VerificationProgress) throws -> Void
  ) throws {
    var total = 0
    for entry in unsafe schema.models {
      total += unsafe try transaction.count(of: entry.tables.records)
    }
    var done = 0
    let references = unsafe try FollowedReferences(schema, in: transaction)
    for problem in references.problems {
      report.note(.description, problem.reason, model: problem.model)
    }
    for entry in unsafe schema.models {
      let fields = references.fields[entry.tables.name] ?? []
      var model = unsafe ModelVerifier(transaction, entry, fields)
      unsafe try verifyDescription(of: entry, &report)
      let before = done
      unsafe try model.run(&report) { objects, problems in
        done = before + objects
        try progress(
          ObjectStore.VerificationProgress(
            objects: done,
            totalObjects: total,
            problems: problems
          )
        )
      }
    }
    unsafe try schema.history?.verify(in: transaction) { report.note(.history, $0) }
  }

  /// What the store says of one model, beyond what could be read of it.
  private func verifyDescription(
    of entry: StoredSchema.Entry,
    _ report: inout VerificationReport
  ) throws {
    let name = entry.tables.name
    for index in entry.tables.indexes {
      let description = index.description
      let expected = IndexDescription(parts: description.parts, isUnique: description.isUnique)
      if expected.id != description.id {
        report.note(
          .description,
          "index \(description.id) has another id than its fields",
          model: name
        )
      }
      for part in description.parts {
        let field = entry.fields.first { $0.id == part.fieldID }
        if let field, field.type != part.type {
          report.note(
            .description,
            "index \(description.id) has another type for \(field.name)",
            model: name
          )
        }
      }
    }
    do {
      let key = MetadataKey.floor(name)
      _ = unsafe try schema.metadata.integer(key, as: UInt64.self, in: transaction)
    } catch let error as StoreError {
      report.note(.description, "\(error)", model: name)
    }
  }
}
