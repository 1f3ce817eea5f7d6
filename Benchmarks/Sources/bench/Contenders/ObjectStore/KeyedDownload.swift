import ObjectStore

/// A `Download` that is stored by key; hot fields have no effect then.
struct KeyedDownload: DownloadModel {
  static let columns = DownloadColumns<KeyedDownload>()
  static let schema = ModelSchema(
    name: "Download",
    fields: Download.schema.fields,
    layout: .byKey
  )

  let download: Download

  init(_ download: Download) { self.download = download }

  static func received(of view: inout ObjectView<KeyedDownload>) throws -> Int64 {
    try view.received
  }

  static func set(_ change: Progress, in editor: inout ObjectEditor<KeyedDownload>) {
    editor.set(\.received, to: change.received)
    editor.set(\.updatedAt, to: change.updatedAt)
  }
}
