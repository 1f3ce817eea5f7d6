public import DownloadStore

/// The status and the header fields of a response.
public struct ResponseHead: Sendable, Hashable {
  /// The status code, 200 to 599.
  public var status: Int
  /// The fields in no particular order.
  public var fields: [HeaderField]
  /// The URL that answered, after redirects.
  public var url: String?

  /// Describes a response.
  public init(status: Int, fields: [HeaderField], url: String? = nil) {
    self.status = status
    self.fields = fields
    self.url = url
  }

  /// The value of the first field with that name, whatever its case.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }
}
