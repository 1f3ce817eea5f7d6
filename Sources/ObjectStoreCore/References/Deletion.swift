internal import LMDB

/// The deletion of an object, including the effects of the delete rules of references to it.
///
/// The initializer collects all effects, with a work list instead of recursion, so long chains do
/// not overflow the stack and cycles terminate. Nothing is written unless the whole deletion is
/// allowed.
struct Deletion {
  private struct Object: Hashable {
    var model: String
    var id: UInt64
  }

  /// An object to delete, with the writer of its model.
  private struct PendingDeletion {
    var id: UInt64
    var writer: ModelWriter
  }

  /// The references to remove from one object.
  private struct Nullification {
    var referrer: ReferenceGraph.Referrer
    var keysOfField: [Int: Set<[UInt8]>]
  }

  /// A reference that forbids the deletion unless the referring object is deleted too.
  private struct Denial {
    var referrer: Object
    var fieldName: String
    var target: Object
    var key: String
  }

  private let state: WriteState
  private var deletions: [PendingDeletion] = []
  private var scheduled: Set<Object> = []
  private var nullifiedReferrers: [Object] = []
  private var nullifications: [Object: Nullification] = [:]
  private var denials: [Denial] = []

  init(
    of id: UInt64,
    _ writer: ModelWriter,
    _ state: WriteState,
    in transaction: borrowing WriteTransaction
  ) throws {
    self.state = state
    // Referring objects are found through indexes, so deferred index entries must be written first.
    unsafe try state.flushDeferred(in: unsafe WriteTransactionReference(transaction))
    deletions = [PendingDeletion(id: id, writer: writer)]
    scheduled = [Object(model: writer.tables.name, id: id)]
    var next = 0
    while next < deletions.count {
      try applyRules(to: deletions[next], in: transaction)
      next += 1
    }
    for denial in denials where !scheduled.contains(denial.referrer) {
      throw StoreError(
        .referenced,
        """
        \(denial.target.model) \(denial.key) cannot be deleted: object \(denial.referrer.id) of \
        \(denial.referrer.model) refers to it in \(denial.fieldName)
        """
      )
    }
    for referrer in nullifiedReferrers where !scheduled.contains(referrer) {
      guard let nullification = nullifications[referrer] else { continue }
      let writer = try state.writer(for: nullification.referrer.model)
      try requireConvertible(referrer, writer, in: transaction)
    }
  }

  /// Throws if a step of a migration rejects an object whose references are to be removed.
  private func requireConvertible(
    _ object: Object,
    _ writer: ModelWriter,
    in transaction: borrowing WriteTransaction
  ) throws {
    guard writer.tables.hasOutdatedLayouts else { return }
    do {
      _ = unsafe try writer.reader(in: transaction).record(object.id)
    } catch let error as StoreError where error.code == .migrationFailed {
      let key = try Self.key(of: deletions[0], in: transaction)?.text ?? ""
      throw StoreError(
        .migrationFailed,
        """
        \(deletions[0].writer.tables.name) \(key) cannot be deleted: a reference to it in object \
        \(object.id) of \(object.model) cannot be removed, because a step of a migration rejects \
        that object; replace or delete it first
        """,
        cause: error.cause
      )
    }
  }

  /// Applies the delete rules of all references to an object that is to be deleted.
  private mutating func applyRules(
    to object: PendingDeletion,
    in transaction: borrowing WriteTransaction
  ) throws {
    let tables = object.writer.tables
    let fields = state.schema.references.incoming(to: tables.name)
    guard !fields.isEmpty, let (key, text) = try Self.key(of: object, in: transaction) else {
      return
    }
    let target = Object(model: tables.name, id: object.id)
    for field in fields {
      let ids = try Referrers(field: field, state: state).ids(referringTo: key, in: transaction)
      for id in ids {
        let referrer = Object(model: field.rule.model, id: id)
        guard let known = field.referrer else {
          throw StoreError(
            .referenced,
            """
            \(target.model) \(text) cannot be deleted: objects of \(field.rule.model) refer to it \
            in \(field.fieldName); open the store with that model to apply its delete rule
            """
          )
        }
        switch field.rule.onDelete {
        case .keep: break
        case .deny:
          denials.append(
            Denial(referrer: referrer, fieldName: field.fieldName, target: target, key: text)
          )
        case .cascade:
          guard scheduled.insert(referrer).inserted else { continue }
          deletions.append(PendingDeletion(id: id, writer: try state.writer(for: known.model)))
        case .nullify:
          guard let position = known.nullablePosition else {
            // The program does not declare the field, or declares it as not optional.
            denials.append(
              Denial(referrer: referrer, fieldName: field.fieldName, target: target, key: text)
            )
            continue
          }
          if nullifications[referrer] == nil {
            nullifiedReferrers.append(referrer)
            nullifications[referrer] = Nullification(referrer: known, keysOfField: [:])
          }
          nullifications[referrer]?.keysOfField[position, default: []].insert(key)
        }
      }
    }
  }

  /// Returns the primary key and its description for messages.
  private static func key(
    of object: PendingDeletion,
    in transaction: borrowing WriteTransaction
  ) throws -> (bytes: [UInt8], text: String)? {
    let reader = unsafe object.writer.reader(in: transaction, as: .stored)
    let tables = object.writer.tables
    guard let record = unsafe try reader.record(object.id, parts: .cold) else { return nil }
    let position = tables.primaryKeyPosition
    do throws(RecordError) {
      guard case .present(let bytes) = unsafe try record.content(at: position) else {
        throw RecordError(.missingField)
      }
      let type = tables.current?.fields[position].type ?? .data
      return unsafe (Array(bytes), StoredReferences.text(of: bytes, type: type))
    } catch {
      throw StoreError(error, model: tables.name, objectID: object.id)
    }
  }

  /// Removes the references, then deletes the objects.
  func run(in transaction: inout WriteTransaction) throws {
    for referrer in nullifiedReferrers where !scheduled.contains(referrer) {
      guard let nullification = nullifications[referrer] else { continue }
      try removeReferences(
        nullification,
        nullification.referrer.model,
        referrer.id,
        in: &transaction
      )
    }
    for object in deletions {
      let reader = unsafe object.writer.reader(in: transaction, as: .stored)
      guard let record = unsafe try reader.record(object.id) else { continue }
      try object.writer.remove(
        ModelReader.Found(id: object.id, record: record),
        in: &transaction
      )
    }
  }

  /// Rewrites an object without the removed references.
  private func removeReferences<M: Model>(
    _ nullification: Nullification,
    _ model: M.Type,
    _ id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    let writer = try state.writer(for: model)
    let reader = unsafe writer.reader(in: transaction)
    guard let record = unsafe try reader.record(id) else { return }
    let found = ModelReader.Found(id: id, record: record)
    let object = try found.decode(model)
    writer.encoder.start()
    object.encode(to: &writer.encoder)
    for (position, keys) in nullification.keysOfField.sorted(by: { $0.key < $1.key }) {
      var rest: [UInt8]?
      if let element = writer.tables.current?.fields[position].type.indexedElement {
        do throws(RecordError) {
          if case .present(let bytes) = unsafe try found.record.content(at: position) {
            rest = unsafe try StoredReferences.removing(keys, from: bytes, type: element)
          }
        } catch {
          throw StoreError(error, model: writer.tables.name, objectID: id)
        }
      }
      writer.encoder.replaceField(at: position, with: rest)
    }
    guard try writer.keepsKeyAndItsFields(of: found) else {
      let key = try Self.key(of: deletions[0], in: transaction)?.text ?? ""
      throw StoreError(
        .referenced,
        """
        \(deletions[0].writer.tables.name) \(key) cannot be deleted: a reference to it is part of the \
        primary key of object \(id) of \(writer.tables.name); delete that object first
        """
      )
    }
    try writer.replace(found, in: &transaction)
  }
}

/// Finds the objects that refer to an object through one field.
struct Referrers {
  let field: ReferenceGraph.Incoming
  let state: WriteState

  /// Returns the IDs of the objects whose field refers to the object with a primary key, in order.
  ///
  /// - Complexity: O(log n) for the index, plus O(k) for k objects.
  func ids(
    referringTo key: [UInt8],
    in transaction: borrowing WriteTransaction
  ) throws -> [UInt64] {
    let index = field.index
    guard let part = index.parts.first else { return [] }
    let prefix = unsafe key.withUnsafeBytes { key in
      unsafe KeyEncoding.key(
        for: key,
        type: part.elementType,
        maximumContentSize: index.maximumContentSize
      )
    }
    var ids: [UInt64] = []
    let cursor = unsafe try transaction.cursor(on: index.database)
    var entry = unsafe try prefix.withUnsafeBytes { unsafe try cursor.first(atOrAfter: $0) }
    while let found = unsafe entry, unsafe found.key.starts(with: prefix) {
      guard let id = unsafe KeyEncoding.objectID(of: found.key) else {
        throw StoreError(
          .damaged,
          "an index entry of \(field.rule.model) is too short to hold an object ID"
        )
      }
      ids.append(id)
      unsafe entry = unsafe try cursor.next()
    }
    guard !isExact(part, key) else { return ids }
    return try ids.filter { try refers(to: key, part, $0, in: transaction) }
  }

  /// Returns whether equal index keys imply equal values.
  ///
  /// False for long strings, which the index truncates, and for floating-point numbers, where 0 and
  /// -0 share an index key but are different primary keys.
  private func isExact(_ part: ModelTables.Index.Part, _ key: [UInt8]) -> Bool {
    switch part.form {
    case .plain, .unsigned, .signed: true
    case .number: false
    // Escaping at most doubles the length.
    case .text: key.count * 2 <= field.index.maximumContentSize
    }
  }

  /// Returns whether the record refers to the key.
  ///
  /// Records of a model that the program does not declare cannot be read and count as referring.
  private func refers(
    to key: [UInt8],
    _ part: ModelTables.Index.Part,
    _ id: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> Bool {
    guard let referrer = field.referrer else { return true }
    // The writer's reader also sees hot parts that the write has not stored yet.
    let writer = try state.writer(for: referrer.model)
    let reader = unsafe writer.reader(in: transaction, as: .stored)
    guard let record = unsafe try reader.record(id) else { return false }
    var found = false
    do {
      unsafe try StoredReferences.forEachKey(
        in: unsafe part.content(in: record),
        type: part.elementType,
        isCollection: field.index.collectionPart != nil
      ) { other in
        if unsafe other.elementsEqual(key) { found = true }
      }
    } catch let error as RecordError {
      throw StoreError(error, model: writer.tables.name, objectID: id)
    }
    return found
  }
}
