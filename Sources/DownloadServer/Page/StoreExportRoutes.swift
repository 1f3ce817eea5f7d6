#if Server
  internal import DownloadStore
  internal import HTTPTypes
  internal import Hummingbird
  internal import ObjectStore

  /// `GET /store/{model}/export`: the objects of a model as a file.
  enum StoreExportRoutes {
    /// Adds the route.
    static func add(to routes: inout ServerRoutes, _ context: ServerContext) {
      let sorts = ClientPlaces(maximum: context.limits.sortedExports)
      routes.on("/store/{model}/export", .get) { request, router in
        let name = try router.part("model")
        let query = request.uri.query ?? ""
        let isSorted = FormFields(query)["sort"] != nil
        let place = isSorted ? sorts.place() : nil
        guard !isSorted || place != nil else {
          throw ServerError(.busy, "too many exports in an order run already: try again later")
        }
        // Before the answer begins, so that an error has a status.
        let (export, first) = try await context.read { store in
          let export = try StoreExport(query, model: name, in: store.objects)
          return (export, try export.part(from: 0, in: store.objects))
        }
        return Response(
          status: .ok,
          headers: [
            .contentType: export.format.type,
            .contentDisposition: "attachment; filename=\"\(export.filename)\"",
          ],
          body: ResponseBody { writer in
            try await send(export, first, context, to: &writer)
            // A client that has the end of its export may ask for the next one at once.
            place?.leave()
            try await writer.finish(nil)
          }
        )
      }
    }

    @concurrent
    private static func send(
      _ export: StoreExport,
      _ first: StoreExport.Part,
      _ context: ServerContext,
      to writer: inout any ResponseBodyWriter
    ) async throws {
      var part = first
      while true {
        // Waits for a slow client, which the limits of the server end.
        if !part.text.isEmpty { try await writer.write(ByteBuffer(bytes: part.text)) }
        guard let next = part.next else { return }
        try Task.checkCancellation()
        part = try await context.read { store in
          try store.objects.requireInPlace()
          return try export.part(from: next, in: store.objects)
        }
      }
    }
  }
#endif
