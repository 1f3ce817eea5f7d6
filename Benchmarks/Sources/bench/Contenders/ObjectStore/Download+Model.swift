import Foundation
import ObjectStore

/// A model of the records, in one of the ways to store them.
protocol DownloadModel: Model where PrimaryKey == String, Columns == DownloadColumns<Self> {
  init(_ download: Download)
  var download: Download { get }

  // Generic code would create the key paths of the fields again for each record.
  static func received(of view: inout ObjectView<Self>) throws -> Int64
  static func set(_ change: Progress, in editor: inout ObjectEditor<Self>)
}

extension DownloadModel {
  var primaryKey: String { download.url }

  init(from record: borrowing RecordView) throws(RecordError) {
    self.init(try Download(from: record))
  }

  func encode(to record: inout RecordEncoder) { download.encode(to: &record) }
}

struct DownloadColumns<Root: Model>: Sendable {
  let state = Column<Root, UInt8>(position: 7)
  let received = Column<Root, Int64>(position: 11)
  let updatedAt = Column<Root, Date>(position: 13)
}

/// The expansion of `@Model`, with hot fields for the scalars that a checkpoint changes or a query
/// filters on.
extension Download: DownloadModel {
  // GRDB's protocols have a type of this name too.
  typealias Columns = DownloadColumns<Download>
  static let columns = DownloadColumns<Download>()
  static let schema = ModelSchema(
    name: "Download",
    fields: [
      FieldSchema("url", String.self, isPrimaryKey: true),
      FieldSchema("name", String.self),
      FieldSchema("destination", String.self),
      FieldSchema("type", String.self),
      FieldSchema("entityTag", String.self, isOptional: true),
      FieldSchema("tags", [String].self),
      FieldSchema("resumeBlob", Data.self, isOptional: true),
      FieldSchema("state", UInt8.self, isIndexed: true),
      FieldSchema("failedAttempts", Int32.self),
      FieldSchema("createdAt", Date.self),
      FieldSchema("completedAt", Date.self, isOptional: true),
      FieldSchema("received", Int64.self, isHot: true),
      FieldSchema("expected", Int64.self, isHot: true),
      FieldSchema("updatedAt", Date.self, isHot: true),
      FieldSchema("priority", Int32.self, isHot: true),
    ]
  )

  init(_ download: Download) { self = download }
  var download: Download { self }

  static func received(of view: inout ObjectView<Download>) throws -> Int64 { try view.received }

  static func set(_ change: Progress, in editor: inout ObjectEditor<Download>) {
    editor.set(\.received, to: change.received)
    editor.set(\.updatedAt, to: change.updatedAt)
  }

  var primaryKey: String { url }

  init(from record: borrowing RecordView) throws(RecordError) {
    self.init(
      url: try record.value(at: 0),
      name: try record.value(at: 1),
      destination: try record.value(at: 2),
      type: try record.value(at: 3),
      entityTag: try record.optional(at: 4),
      tags: try record.value(at: 5),
      resumeBlob: try record.optional(at: 6),
      state: try record.value(at: 7),
      failedAttempts: try record.value(at: 8),
      createdAt: try record.value(at: 9),
      completedAt: try record.optional(at: 10),
      received: try record.value(at: 11),
      expected: try record.value(at: 12),
      updatedAt: try record.value(at: 13),
      priority: try record.value(at: 14)
    )
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(url)
    record.encode(name)
    record.encode(destination)
    record.encode(type)
    record.encode(entityTag)
    record.encode(tags)
    record.encode(resumeBlob)
    record.encode(state)
    record.encode(failedAttempts)
    record.encode(createdAt)
    record.encode(completedAt)
    record.encode(received)
    record.encode(expected)
    record.encode(updatedAt)
    record.encode(priority)
  }
}
