internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import ObjectStore

/// `dlstore store query`: lists objects of a model.
struct StoreQueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Lists the objects of a model.",
    discussion: """
      Without --sort the objects are in the order in which they were inserted, and the search ends \
      at the limit. A condition on an indexed field uses the index. In arrays and sets, --where \
      finds an element. null finds objects without a value. JSON has the value forms of an export; \
      tables and CSV show dates as ISO 8601 in UTC.

      EXAMPLES:
        dlstore store query DownloadRecord --where state=waiting --limit 10
        dlstore store query DownloadRecord --sort received:desc --limit 5
        dlstore store query DownloadRecord --fields id,received --format csv
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @OptionGroup var query: StoredQueryOptions

  @Flag(help: "Show the secrets of downloads unredacted.")
  var revealSecrets = false

  func run() async throws {
    try query.run(in: location.openedWithoutModels(reading)) { model, fields in
      try StoredObjectOutput(model, fields: fields, revealsSecrets: revealSecrets)
    }
  }
}
