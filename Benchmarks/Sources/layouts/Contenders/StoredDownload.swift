import Foundation
import ObjectStore

/// Which fields of the model are hot.
protocol HotFields: Sendable {
  static var schema: ModelSchema { get }
}

enum NothingIsHot: HotFields {
  static let schema = downloadSchema(hotProgress: false, hotScalars: false)
}

/// What a checkpoint changes.
enum ProgressIsHot: HotFields {
  static let schema = downloadSchema(hotProgress: true, hotScalars: false)
}

/// Everything that is not text or data.
enum ScalarsAreHot: HotFields {
  static let schema = downloadSchema(hotProgress: true, hotScalars: true)
}

private func downloadSchema(hotProgress: Bool, hotScalars: Bool) -> ModelSchema {
  ModelSchema(
    name: "Download",
    fields: [
      FieldSchema("url", String.self, isPrimaryKey: true),
      FieldSchema("id", String.self),
      FieldSchema("filename", String.self),
      FieldSchema("folder", String.self),
      FieldSchema("destination", String.self),
      FieldSchema("type", String.self),
      FieldSchema("entityTag", String.self, isOptional: true),
      FieldSchema("tags", Set<String>.self),
      FieldSchema("resumeBlob", Data.self, isOptional: true),
      FieldSchema("received", Int64.self, isHot: hotProgress),
      FieldSchema("updatedAt", Date.self, isHot: hotProgress),
      FieldSchema("resolvedBytes", Int64.self, isHot: hotProgress),
      FieldSchema("unresolvedStarts", Int32.self, isHot: hotProgress),
      FieldSchema("expected", Int64.self, isOptional: true, isHot: hotScalars),
      FieldSchema("generation", Int64.self, isHot: hotScalars),
      FieldSchema("createdAt", Date.self, isHot: hotScalars),
      FieldSchema("completedAt", Date.self, isOptional: true, isHot: hotScalars),
      FieldSchema("nextRetryAt", Date.self, isOptional: true, isHot: hotScalars),
      FieldSchema("priority", Int32.self, isHot: hotScalars),
      FieldSchema("failedAttempts", Int32.self, isHot: hotScalars),
      FieldSchema("state", UInt8.self, isHot: hotScalars),
      FieldSchema("intent", UInt8.self, isHot: hotScalars),
      FieldSchema("isHeldByHand", Bool.self, isHot: hotScalars),
      FieldSchema("hasHeaders", Bool.self, isHot: hotScalars),
    ]
  )
}

/// A download as `ObjectStore` keeps it.
struct StoredDownload<Hot: HotFields>: Model {
  struct Columns: Sendable {}

  static var schema: ModelSchema { Hot.schema }
  static var columns: Columns { Columns() }

  var value: Download
  var primaryKey: String { value.url }

  init(_ value: Download) {
    self.value = value
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    value = Download(
      url: try record.value(at: 0),
      id: try record.value(at: 1),
      filename: try record.value(at: 2),
      folder: try record.value(at: 3),
      destination: try record.value(at: 4),
      type: try record.value(at: 5),
      entityTag: try record.optional(at: 6),
      tags: try record.value(at: 7),
      resumeBlob: try record.optional(at: 8),
      progress: Download.Progress(
        received: try record.value(at: 9),
        updatedAt: try record.value(at: 10),
        resolvedBytes: try record.value(at: 11),
        unresolvedStarts: try record.value(at: 12)
      ),
      expected: try record.optional(at: 13),
      generation: try record.value(at: 14),
      createdAt: try record.value(at: 15),
      completedAt: try record.optional(at: 16),
      nextRetryAt: try record.optional(at: 17),
      priority: try record.value(at: 18),
      failedAttempts: try record.value(at: 19),
      state: try record.value(at: 20),
      intent: try record.value(at: 21),
      isHeldByHand: try record.value(at: 22),
      hasHeaders: try record.value(at: 23)
    )
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(value.url)
    record.encode(value.id)
    record.encode(value.filename)
    record.encode(value.folder)
    record.encode(value.destination)
    record.encode(value.type)
    record.encode(value.entityTag)
    record.encode(value.tags)
    record.encode(value.resumeBlob)
    record.encode(value.progress.received)
    record.encode(value.progress.updatedAt)
    record.encode(value.progress.resolvedBytes)
    record.encode(value.progress.unresolvedStarts)
    record.encode(value.expected)
    record.encode(value.generation)
    record.encode(value.createdAt)
    record.encode(value.completedAt)
    record.encode(value.nextRetryAt)
    record.encode(value.priority)
    record.encode(value.failedAttempts)
    record.encode(value.state)
    record.encode(value.intent)
    record.encode(value.isHeldByHand)
    record.encode(value.hasHeaders)
  }
}

/// The same records, of which only the received bytes are read.
///
/// It is the least that the public interface can do: a model that decodes one field.
struct ReceivedOnly<Hot: HotFields>: Model {
  struct Columns: Sendable {}

  static var schema: ModelSchema { Hot.schema }
  static var columns: Columns { Columns() }

  var received: Int64
  var primaryKey: String { "" }

  init(from record: borrowing RecordView) throws(RecordError) {
    received = try record.value(at: 9)
  }

  func encode(to record: inout RecordEncoder) {
    preconditionFailure("records are not written through this model")
  }
}
