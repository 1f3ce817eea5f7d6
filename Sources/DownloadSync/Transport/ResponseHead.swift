public import DownloadStore

/// The status and the header fields of a response.
public struct ResponseHead: Sendable, Hashable {
  /// The status code, 200 to 599.
  public var status: Int
  /// The header fields, in no particular order.
  public var fields: [HeaderField]
  /// The URL of the response, after redirects.
  public var url: String?

  /// Creates a response head.
  public init(status: Int, fields: [HeaderField], url: String? = nil) {
    self.status = status
    self.fields = fields
    self.url = url
  }

  /// The value of the first field with a name, ignoring case; `nil` if there is none.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }
}
