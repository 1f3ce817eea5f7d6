#if Server
  internal import Hummingbird

  /// The body of a request.
  enum RequestBytes {
    /// The number of bytes above which a body is long.
    private static let longCount = 64 * 1024

    /// Reads the whole body.
    ///
    /// - Throws: ``ServerError`` with `tooLarge` or `timeout`.
    static func read(_ request: Request, _ limits: ServerLimits) async throws -> [UInt8] {
      try await read(request, limits, longIn: nil).bytes
    }

    /// Reads the whole body, which takes a place while it is long.
    ///
    /// It takes the place when so many bytes have arrived, so a client that sends nothing has none.
    ///
    /// - Returns: The body, and its place, which the caller keeps as long as it needs the memory.
    /// - Throws: ``ServerError`` with `tooLarge`, `timeout`, or `busy` if no place is free.
    static func read(
      _ request: Request,
      _ limits: ServerLimits,
      longIn places: ClientPlaces?
    ) async throws -> (bytes: [UInt8], place: ClientPlaces.Place?) {
      if let text = request.headers[.contentLength], let length = Int(text),
        length > limits.bodyBytes
      {
        throw tooLarge(limits)
      }
      return try await withThrowingTaskGroup(
        of: (bytes: [UInt8], place: ClientPlaces.Place?)?.self
      ) { group in
        group.addTask {
          var bytes: [UInt8] = []
          var place: ClientPlaces.Place?
          for try await part in request.body {
            guard bytes.count + part.readableBytes <= limits.bodyBytes else {
              throw tooLarge(limits)
            }
            if let places, place == nil, bytes.count + part.readableBytes > longCount {
              place = places.place()
              guard place != nil else {
                throw ServerError(.busy, "too many long calls arrive already: try again later")
              }
            }
            bytes.append(contentsOf: part.readableBytesView)
          }
          return (bytes, place)
        }
        group.addTask {
          try await Task.sleep(for: limits.bodyTime)
          return nil
        }
        defer { group.cancelAll() }
        guard let body = try await group.next() ?? nil else {
          throw ServerError(.timeout, "the body did not arrive in time")
        }
        return body
      }
    }

    private static func tooLarge(_ limits: ServerLimits) -> ServerError {
      ServerError(.tooLarge, "the body has more than \(limits.bodyBytes) bytes")
    }
  }
#endif
