internal import DownloadReports
internal import ObjectStore
internal import ProgramOutput

/// The objects of a model that meet conditions, as `dlstore store query` prints them, read in parts.
///
/// Each part is of a snapshot of its own, which is closed before the part is sent, so that a slow client
/// keeps no freed pages from reuse. In an order, the ids of all matches are sorted first, and kept.
struct StoreExport: Sendable {
  /// The format of the file.
  enum Format: String, Sendable, CaseIterable {
    case jsonl
    case csv

    /// The name, for people.
    var title: String { self == .jsonl ? "JSON Lines" : "CSV" }

    /// The media type.
    var type: String {
      self == .jsonl ? "application/jsonl" : "text/csv; charset=utf-8; header=present"
    }
  }

  /// Some of the lines.
  struct Part: Sendable {
    var text: [UInt8] = []
    /// Where the next part begins: an object id, or in an order the number of ids before it; `nil` after
    /// the last part.
    var next: UInt64?
  }

  /// The number of bytes after which a part ends.
  private static let size = 1 << 16
  /// The number of objects that are tested for a part.
  private static let count = 10_000

  /// The number of objects that are sorted, whose ids are in memory until the last part.
  static let maximumSorted = 1_000_000

  let format: Format
  let model: StoredModel
  private let conditions: [StoredCondition]
  /// The ids of the matches in their order; `nil` for the stored order.
  private let ids: [UInt64]?

  /// Finds the model, the conditions and the order that a query names, and sorts the matches.
  ///
  /// - Throws: ``ServerError`` for an unknown model, format or parameter, a condition or an order that is
  ///   none, and for more than `maximumSorted` matches to sort; `StoreError`.
  init(
    _ query: String,
    model name: String,
    in store: Store,
    maximumSorted: Int = StoreExport.maximumSorted
  ) throws {
    let fields = try Self.fields(of: query)
    guard let format = Format(rawValue: fields["format"] ?? "") else {
      throw ServerError(.invalidRequest, "the format is jsonl or csv: pass format=jsonl")
    }
    guard let model = try store.storedModels().first(where: { $0.name == name }) else {
      throw ServerError(.notFound, "the store has no such model")
    }
    self.format = format
    self.model = model
    do {
      let query = StoreModelQuery(fields)
      let conditions = try query.storedConditions(in: model)
      self.conditions = conditions
      ids = try query.storedOrder(in: model).map { order in
        try store.storedObjectIDs(
          of: name,
          where: conditions,
          order: order,
          limit: maximumSorted + 1
        )
      }
    } catch let failure as CommandFailure {
      throw ServerError(.invalidRequest, failure.message ?? "a condition is not one of the model")
    }
    guard ids.map({ $0.count <= maximumSorted }) ?? true else {
      throw ServerError(
        .invalidRequest,
        "more than \(maximumSorted) objects match, too many to sort: leave 'sort' out, add conditions, "
          + "or use 'dlstore store query --sort'"
      )
    }
  }

  private static func fields(of query: String) throws(ServerError) -> FormFields {
    var fields = FormFields()
    for (name, value) in try QueryItems.decode(query) {
      guard ["format", "where", "sort"].contains(name) else {
        throw ServerError(.invalidRequest, "there is no parameter '\(name)'")
      }
      guard name == "where" || !fields.fields.contains(where: { $0.name == name }) else {
        throw ServerError(.invalidRequest, "the parameter '\(name)' is given twice")
      }
      fields.add(name, value)
    }
    return fields
  }

  /// The name of the file, of characters that need no quotation marks.
  var filename: String { "\(FormFields.encoded(model.name)).\(format.rawValue)" }

  /// Reads a part.
  ///
  /// - Parameters:
  ///   - start: Where it begins: 0 for the first part, else the ``Part/next`` of the previous one.
  ///   - store: The store.
  /// - Returns: The lines, and where the next part begins.
  /// - Throws: `StoreError`.
  func part(from start: UInt64, in store: Store) throws -> Part {
    let output = try StoredObjectOutput(model, revealsSecrets: false)
    var part = Part()
    if start == 0, format == .csv { add(CSVOutput.line(output.columns.map(\.name)), to: &part) }
    func addLine(of object: StoredObject) -> Bool {
      switch format {
      case .jsonl: add(output.json(of: object).text, to: &part)
      case .csv: add(CSVOutput.line(output.cells(of: object)), to: &part)
      }
      return part.text.count < Self.size
    }
    guard let ids else {
      let next = try store.visitStoredObjects(
        of: model.name,
        where: conditions,
        from: start,
        testing: Self.count,
        addLine
      )
      part.next = next
      return part
    }
    let rest = ids.dropFirst(Int(start))
    let count = try store.visitStoredObjects(
      of: model.name,
      where: conditions,
      withIDs: rest.prefix(Self.count),
      addLine
    )
    part.next = count < rest.count ? start + UInt64(count) : nil
    return part
  }

  private func add(_ line: String, to part: inout Part) {
    part.text += line.utf8
    part.text.append(UInt8(ascii: "\n"))
  }
}
