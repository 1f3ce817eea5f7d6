package import LMDB

extension ModelTables {
  /// A column of the model, which this or another program declares.
  package final class Column: Sendable {
    /// The name of the model.
    let model: String
    package let description: ColumnDescription
    package let database: Database
    /// The field's position in the program's schema; `nil` when the program does not declare it.
    let position: Int?
    /// Whether the chunks have the values that the program reads; see ``Index/Part/isExact``.
    let isExact: Bool
    /// How values compare.
    let form: NumberForm

    init(
      _ description: ColumnDescription,
      of model: String,
      _ database: Database,
      own: RecordLayout,
      defaults: FieldDefaults,
      layouts: [RecordLayout]
    ) {
      guard let form = NumberForm(description.type) else {
        preconditionFailure("a column of \(model) has the type \(description.type)")
      }
      self.model = model
      self.description = description
      self.database = database
      self.form = form
      position = own.position(ofID: description.fieldID)
      isExact = position.map { defaults.isIndexed(at: $0, own.fields[$0], layouts) } ?? false
    }

    /// The width of a value in bytes.
    package var width: Int { form.width }

    /// Returns whether a change of fields, as a ``ChangeLog/Change/fields`` bit set, can change
    /// values.
    ///
    /// The program cannot change a field that it does not declare.
    func depends(on fields: UInt64) -> Bool {
      position.map { fields & FieldBit.ofField(at: $0) != 0 } ?? false
    }

    /// Returns the content of the field in a record.
    package func content(in record: borrowing RecordView) throws(RecordError) -> RecordView.Content
    {
      if let position, isExact { return unsafe try record.content(at: position) }
      return unsafe try record.indexedContent(ofID: description.fieldID)
    }

    /// Sets the content of the field in a record at a slot of a chunk.
    func add(
      _ record: borrowing RecordView,
      to chunk: ColumnChunkBuilder,
      at slot: Int
    ) throws(RecordError) {
      unsafe try chunk.set(content(in: record), at: slot)
    }

    /// Writes the checksum of a chunk, and stores it.
    func store(
      _ chunk: ColumnChunkBuilder,
      _ number: UInt64,
      in transaction: inout WriteTransaction
    ) throws {
      chunk.seal(seed: seed(ofChunk: number))
      try unsafe withUnsafeBytes(of: number) { key in
        unsafe try transaction.put(chunk.bytes, for: key, in: database)
      }
    }

    /// The seed of the checksum of a chunk.
    package func seed(ofChunk number: UInt64) -> UInt64 {
      ColumnChunk.seed(number: number, fieldID: description.fieldID)
    }

    /// Returns a view of a stored chunk.
    ///
    /// - Throws: ``StoreError`` with `damaged` if its size or its checksum is wrong.
    package func view(_ bytes: UnsafeRawBufferPointer, number: UInt64) throws -> ColumnChunkView {
      do throws(RecordError) {
        return unsafe try ColumnChunkView(bytes, seed: seed(ofChunk: number), width: width)
      } catch {
        throw StoreError(
          .damaged,
          """
          the column of field \(description.fieldID) of \(model) is damaged at object \
          \(ColumnChunk.firstID(of: number)) or after it: rebuild the indexes
          """,
          cause: error
        )
      }
    }
  }

  /// The column of the field at a position in the program's schema, if it has the values that the
  /// program reads.
  func column(ofFieldAt position: Int) -> Column? {
    columns.first { $0.position == position && $0.isExact }
  }
}
