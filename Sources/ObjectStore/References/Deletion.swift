internal import LMDB

/// The deletion of one object with all that follows from references to it.
///
/// First everything is looked up, in a loop and not by recursion, so that chains may be long and
/// cycles end; only when nothing stands against it is anything written.
struct Deletion {
  private struct Object: Hashable {
    var model: String
    var id: UInt64
  }

  /// An object with the writer of its model.
  private struct Doomed {
    var id: UInt64
    var writer: ModelWriter
  }

  /// References that go from one object.
  private struct Loss {
    var referrer: ReferenceGraph.Referrer
    var keysOfField: [Int: Set<[UInt8]>]
  }

  /// A reference that stands against the deletion unless its object is deleted too.
  private struct Denial {
    var referrer: Object
    var fieldName: String
    var target: Object
    var key: String
  }

  private let state: WriteState
  private var doomed: [Doomed] = []
  private var isDoomed: Set<Object> = []
  private var losers: [Object] = []
  private var losses: [Object: Loss] = [:]
  private var denials: [Denial] = []

  init(
    of id: UInt64,
    _ writer: ModelWriter,
    _ state: WriteState,
    in transaction: borrowing WriteTransaction
  ) throws {
    self.state = state
    // What refers to the object is looked for in indexes.
    unsafe try state.flushPending(in: unsafe WriteTransactionReference(transaction))
    doomed = [Doomed(id: id, writer: writer)]
    isDoomed = [Object(model: writer.tables.name, id: id)]
    var next = 0
    while next < doomed.count {
      try follow(doomed[next], in: transaction)
      next += 1
    }
    for denial in denials where !isDoomed.contains(denial.referrer) {
      throw StoreError(
        .referenced,
        """
        \(denial.target.model) \(denial.key) cannot be deleted: object \(denial.referrer.id) of \
        \(denial.referrer.model) refers to it in \(denial.fieldName)
        """
      )
    }
  }

  /// Looks up what refers to an object that is to go.
  private mutating func follow(
    _ object: Doomed,
    in transaction: borrowing WriteTransaction
  ) throws {
    let tables = object.writer.tables
    let fields = state.schema.references.incoming(to: tables.name)
    guard !fields.isEmpty, let (key, text) = try Self.key(of: object, in: transaction) else {
      return
    }
    let target = Object(model: tables.name, id: object.id)
    for field in fields {
      let ids = try Referrers(field: field).ids(naming: key, in: transaction)
      for id in ids {
        let referrer = Object(model: field.rule.model, id: id)
        guard let known = field.referrer else {
          throw StoreError(
            .referenced,
            """
            \(target.model) \(text) cannot be deleted: objects of \(field.rule.model) refer to it \
            in \(field.fieldName); open the store with that model too
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
          guard isDoomed.insert(referrer).inserted else { continue }
          doomed.append(Doomed(id: id, writer: try state.writer(for: known.model)))
        case .nullify:
          guard let position = known.losablePosition else {
            // This program does not know the field, or holds that it always has a value.
            denials.append(
              Denial(referrer: referrer, fieldName: field.fieldName, target: target, key: text)
            )
            continue
          }
          if losses[referrer] == nil {
            losers.append(referrer)
            losses[referrer] = Loss(referrer: known, keysOfField: [:])
          }
          losses[referrer]?.keysOfField[position, default: []].insert(key)
        }
      }
    }
  }

  /// The primary key, and as a message has it.
  private static func key(
    of object: Doomed,
    in transaction: borrowing WriteTransaction
  ) throws -> (bytes: [UInt8], text: String)? {
    let reader = unsafe object.writer.reader(in: transaction)
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

  /// Writes it all.
  func run(in transaction: inout WriteTransaction) throws {
    for referrer in losers where !isDoomed.contains(referrer) {
      guard let loss = losses[referrer] else { continue }
      try lose(loss, loss.referrer.model, referrer.id, in: &transaction)
    }
    for object in doomed {
      let reader = unsafe object.writer.reader(in: transaction)
      guard let record = unsafe try reader.record(object.id) else { continue }
      try object.writer.remove(
        ModelReader.Found(id: object.id, record: record),
        in: &transaction
      )
    }
  }

  /// Writes an object anew without the references that it loses.
  private func lose<M: Model>(
    _ loss: Loss,
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
    for (position, keys) in loss.keysOfField.sorted(by: { $0.key < $1.key }) {
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
    try writer.replace(found, in: &transaction)
  }
}
