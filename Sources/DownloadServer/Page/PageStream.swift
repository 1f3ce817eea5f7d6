#if Server
  internal import DownloadStore
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging

  /// A page that is sent while its parts are read, so that a browser shows the first ones meanwhile.
  ///
  /// Each part is read as a whole before it is sent, so that a slow client keeps no snapshot open. The
  /// status is sent first, so a part that cannot be read is replaced by the error.
  struct PageStream: Sendable {
    let parts: [PagePart]
    let context: ServerContext

    /// Returns the response; that of a page without a part to read states its length.
    func response(_ status: HTTPResponse.Status) async -> Response {
      let body =
        parts.allSatisfy(\.isReady)
        ? ResponseBody(byteBuffer: ByteBuffer(string: await text))
        : ResponseBody { writer in
          try await send(to: &writer)
          try await writer.finish(nil)
        }
      return Response(
        status: status,
        headers: [.contentType: "text/html; charset=utf-8"],
        body: body
      )
    }

    /// The whole page.
    private var text: String {
      get async {
        var text = ""
        for part in parts { text += await html(of: part).text }
        return text
      }
    }

    /// Sends what is known before each part that has to be read.
    ///
    /// - Throws: The errors of the connection.
    @concurrent
    func send(to writer: inout any ResponseBodyWriter) async throws {
      var ready = ""
      for part in parts {
        // An empty chunk would end the response.
        if !part.isReady, !ready.isEmpty {
          try await writer.write(ByteBuffer(string: ready))
          ready = ""
        }
        ready += await html(of: part).text
      }
      if !ready.isEmpty { try await writer.write(ByteBuffer(string: ready)) }
    }

    private func html(of part: PagePart) async -> HTML {
      switch part {
      case .ready(let html): return html
      case .read(let body):
        do {
          return try await context.read(body)
        } catch {
          let failure = ServerError(storeError: error)
          if failure.code == .storeFailed {
            context.logger.error("request failed", metadata: ["error": "\(failure.message)"])
          }
          return PageAlert(text: failure.message).html
        }
      }
    }
  }
#endif
