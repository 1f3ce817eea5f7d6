internal import DownloadReports
internal import ObjectStore
internal import ProgramOutput

/// The objects of a model that meet conditions, as `dlstore store query` prints them, read in parts.
///
/// Each part is of a snapshot of its own, which is closed before the part is sent, so that a slow client
/// keeps no freed pages from reuse.
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
    /// The object id from which the next part begins; `nil` after the last one.
    var next: UInt64?
  }

  /// The number of bytes after which a part ends.
  private static let size = 1 << 16
  /// The number of objects that are tested for a part.
  private static let count = 10_000

  let format: Format
  let model: StoredModel
  private let conditions: [StoredCondition]

  /// Finds the model and its conditions, as the address names them.
  ///
  /// - Throws: ``ServerError`` for an unknown model or format, or a condition that is none; `StoreError`.
  init(_ fields: FormFields, model name: String, in store: Store) throws {
    guard let format = Format(rawValue: fields["format"] ?? "") else {
      throw ServerError(.invalidRequest, "the format is jsonl or csv: pass format=jsonl")
    }
    guard let model = try store.storedModels().first(where: { $0.name == name }) else {
      throw ServerError(.notFound, "the store has no such model")
    }
    self.format = format
    self.model = model
    do {
      conditions = try StoreModelQuery(fields).storedConditions(in: model)
    } catch let failure as CommandFailure {
      throw ServerError(.invalidRequest, failure.message ?? "a condition is not one of the model")
    }
  }

  /// The name of the file, of characters that need no quotation marks.
  var filename: String { "\(FormFields.encoded(model.name)).\(format.rawValue)" }

  /// Reads a part.
  ///
  /// - Parameters:
  ///   - id: Where it begins: 0 for the first part, else the ``Part/next`` of the previous one.
  ///   - store: The store.
  /// - Returns: The lines, and where the next part begins.
  /// - Throws: `StoreError`.
  func part(from id: UInt64, in store: Store) throws -> Part {
    let output = try StoredObjectOutput(model, revealsSecrets: false)
    var part = Part()
    if id == 0, format == .csv { add(CSVOutput.line(output.columns.map(\.name)), to: &part) }
    part.next = try store.visitStoredObjects(
      of: model.name,
      where: conditions,
      from: id,
      testing: Self.count
    ) { object in
      switch format {
      case .jsonl: add(output.json(of: object).text, to: &part)
      case .csv: add(CSVOutput.line(output.cells(of: object)), to: &part)
      }
      return part.text.count < Self.size
    }
    return part
  }

  private func add(_ line: String, to part: inout Part) {
    part.text += line.utf8
    part.text.append(UInt8(ascii: "\n"))
  }
}
