import ObjectStore

/// A `Download` with a column of the received bytes.
struct ColumnarDownload: DownloadModel {
  static let columns = DownloadColumns<ColumnarDownload>()
  static let schema = ModelSchema(
    name: "Download",
    fields: Download.schema.fields.map { field in
      field.name == "received"
        ? FieldSchema("received", Int64.self, isHot: true, isColumnar: true) : field
    }
  )

  let download: Download

  init(_ download: Download) { self.download = download }

  static func received(of view: inout ObjectView<ColumnarDownload>) throws -> Int64 {
    try view.received
  }

  static func set(_ change: Progress, in editor: inout ObjectEditor<ColumnarDownload>) {
    editor.set(\.received, to: change.received)
    editor.set(\.updatedAt, to: change.updatedAt)
  }
}
