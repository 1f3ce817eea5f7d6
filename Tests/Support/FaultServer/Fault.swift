/// A fault in the reply to one request.
public enum Fault: Sendable, Hashable {
  /// No fault: a placeholder between two faults.
  case none
  /// FIN inside the response header, right after the status line.
  case closeInsideHeader
  /// RST after the given number of body bytes.
  case resetAfter(bytes: Int64)
  /// FIN after the given number of body bytes: a short body.
  case closeAfter(bytes: Int64)
  /// No data after the given number of body bytes.
  ///
  /// The connection stays open until the client closes it or the server stops. The reply continues
  /// when the resource's ``Resource/rateGate`` is opened.
  case stallAfter(bytes: Int64)
  /// No data at all, for as long as ``stallAfter(bytes:)``.
  case stallBeforeHeader
  /// FIN instead of a reply.
  case emptyReply
  /// The given bytes instead of a reply, then FIN.
  case rawResponse([UInt8])
  /// The first bytes instead of a reply, then the second bytes repeatedly.
  ///
  /// Each repetition waits the given number of milliseconds. It ends when the client closes the
  /// connection or the server stops.
  case rawForEver([UInt8], repeating: [UInt8], everyMilliseconds: Int)
  /// RST whenever the connection has carried the given number of body bytes.
  ///
  /// Applies to every connection.
  case resetEvery(bytes: Int64)
  /// 200 with the whole body, whatever range was requested.
  case ignoreRange
  /// 206 with the bytes from this offset on, and a matching `Content-Range`.
  case wrongOffset(Int64)
  /// 206 whose `Content-Range` has the first requested bytes up to this number, with a body of all
  /// requested bytes, of which the byte after the declared ones is wrong.
  ///
  /// The body has its own length in `Content-Length`, or is chunked.
  case longBody(declared: Int64, hasLength: Bool = true)
  /// 206 with the requested `Content-Range` and an empty body.
  ///
  /// The body has `Content-Length: 0`, or is chunked.
  case emptyRange(hasLength: Bool = true)
  /// 200 with an empty body, and the validators of the resource.
  case emptyBody
  /// Another value of `ETag`, with its quotes, also for `If-Range`.
  case entityTag(String)
  /// One wrong byte at this offset of the body.
  case damage(at: Int64)
  /// 416 to a request for a range, whatever the range; without effect on other requests.
  case rangeNotSatisfiable
  /// A status with a short text, and `Retry-After` if given.
  case status(Int, retryAfter: String? = nil)

  /// Returns a fault that sends these characters instead of a reply, then FIN.
  public static func rawResponse(_ text: String) -> Fault {
    .rawResponse(Array(text.utf8))
  }

  /// Returns a fault that sends characters instead of a reply, then other characters without end.
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
