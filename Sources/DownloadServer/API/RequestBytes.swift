#if Server
  internal import Hummingbird

  /// The body of a request.
  enum RequestBytes {
    /// Reads the whole body.
    ///
    /// - Throws: ``ServerError`` with `tooLarge` or `timeout`.
    static func read(_ request: Request, _ limits: ServerLimits) async throws -> [UInt8] {
      if let text = request.headers[.contentLength], let length = Int(text),
        length > limits.bodyBytes
      {
        throw tooLarge(limits)
      }
      return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
        group.addTask {
          var bytes: [UInt8] = []
          for try await part in request.body {
            guard bytes.count + part.readableBytes <= limits.bodyBytes else {
              throw tooLarge(limits)
            }
            bytes.append(contentsOf: part.readableBytesView)
          }
          return bytes
        }
        group.addTask {
          try await Task.sleep(for: limits.bodyTime)
          return nil
        }
        defer { group.cancelAll() }
        guard let bytes = try await group.next() ?? nil else {
          throw ServerError(.timeout, "the body did not arrive in time")
        }
        return bytes
      }
    }

    private static func tooLarge(_ limits: ServerLimits) -> ServerError {
      ServerError(.tooLarge, "the body has more than \(limits.bodyBytes) bytes")
    }
  }
#endif
