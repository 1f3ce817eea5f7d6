internal import ObjectStore
internal import ProgramOutput

/// The text of server-sent events (WHATWG HTML, 9.2).
enum EventText {
  /// A comment, which keeps the connection open and tells a client that the server lives.
  static let heartbeat = ":\n\n"
  /// The first line of a stream: how long a browser waits before it connects again.
  static let beginning = "retry: 1000\n\n"

  /// Returns a change as an event: its id is the position in the store's history, from which a browser
  /// that connects again continues.
  static func text(of change: LiveChange) -> String {
    // JSON has no line feeds here.
    let data = change.json.text
    return "id: \(change.token)\nevent: \(change.isReset ? "reset" : "change")\ndata: \(data)\n\n"
  }
}
