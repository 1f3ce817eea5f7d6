import Foundation
import ObjectStore

/// A `Download` with a column of the received bytes.
struct ColumnarDownload: Model {
  struct Columns: Sendable {
    let state = Column<ColumnarDownload, UInt8>(position: 7)
    let received = Column<ColumnarDownload, Int64>(position: 11)
    let updatedAt = Column<ColumnarDownload, Date>(position: 13)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Download",
    fields: Download.schema.fields.map { field in
      field.name == "received"
        ? FieldSchema("received", Int64.self, isHot: true, isColumnar: true) : field
    }
  )

  let download: Download
  var primaryKey: String { download.url }

  init(_ download: Download) {
    self.download = download
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    download = try Download(from: record)
  }

  func encode(to record: inout RecordEncoder) {
    download.encode(to: &record)
  }
}
