/// One way to misbehave, applied to one request.
public enum Fault: Sendable, Hashable {
  /// A healthy reply: a place holder between two faults.
  case none
  /// FIN in the middle of the response header, just after the status line.
  case closeInsideHeader
  /// RST after that many body bytes of the reply.
  case resetAfter(bytes: Int64)
  /// FIN after that many body bytes of the reply: a short body.
  case closeAfter(bytes: Int64)
  /// Silence after that many body bytes of the reply, with the connection left open until the
  /// client leaves or the server stops.
  case stallAfter(bytes: Int64)
  /// Silence before the header, as long as ``stallAfter(bytes:)``.
  case stallBeforeHeader
  /// FIN instead of a reply.
  case emptyReply
  /// These bytes instead of a reply, then FIN.
  case rawResponse([UInt8])
  /// The first bytes instead of a reply, then the second ones again and again, with that many
  /// milliseconds before each time, until the client leaves or the server stops.
  case rawForEver([UInt8], repeating: [UInt8], everyMilliseconds: Int)
  /// RST whenever the connection has carried that many body bytes. Never used up.
  case resetEvery(bytes: Int64)
  /// 200 with the whole body, whatever range was asked for.
  case ignoreRange
  /// 206 with the bytes from this offset on, and a `Content-Range` that says so.
  case wrongOffset(Int64)
  /// 416, whatever range was asked for.
  case rangeNotSatisfiable
  /// A status with a short text, and `Retry-After` if there is a value for it.
  case status(Int, retryAfter: String? = nil)

  /// These characters instead of a reply, then FIN.
  public static func rawResponse(_ text: String) -> Fault {
    .rawResponse(Array(text.utf8))
  }

  /// These characters instead of a reply, then others without end.
  public static func rawForEver(
    _ text: String,
    repeating repeated: String,
    everyMilliseconds milliseconds: Int = 0
  ) -> Fault {
    .rawForEver(
      Array(text.utf8),
      repeating: Array(repeated.utf8),
      everyMilliseconds: milliseconds
    )
  }
}
