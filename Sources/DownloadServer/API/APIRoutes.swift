#if Server
  internal import DownloadReports
  internal import DownloadStore
  internal import DownloadSync
  internal import Hummingbird
  internal import ObjectStore

  /// The API for scripts and other machines, which ``APIDocument`` describes.
  enum APIRoutes {
    private static let root = "/api/v1"

    /// Adds the routes.
    static func add(to routes: inout ServerRoutes, _ context: ServerContext) {
      routes.on("\(root)/openapi.json", .get) { request, _ in
        try noParameters(request)
        return Response(json: APIDocument.json)
      }
      routes.on("\(root)/stats", .get) { request, _ in
        try noParameters(request)
        return try await stats(context)
      }
      routes.on("\(root)/downloads", .get) { request, _ in
        let query = try APIQuery(try QueryItems.decode(request.uri.query ?? ""))
        return try await list(query, context)
      }
      routes.on("\(root)/downloads", .post) { request, _ in
        try noParameters(request)
        let requests = try APIRequests.additions(try await body(of: request, context))
        return try await add(requests, context)
      }
      routes.on("\(root)/downloads/actions", .post) { request, _ in
        try noParameters(request)
        let action = try APIRequests.action(try await body(of: request, context))
        return try await perform(action, context)
      }
      routes.on("\(root)/downloads/{id}", .get) { request, route in
        try noParameters(request)
        return try await inspect(try route.part("id"), context)
      }
      routes.on("\(root)/downloads/{id}", .patch) { request, route in
        try noParameters(request)
        let update = try APIRequests.update(try await body(of: request, context))
        return try await change(try route.part("id"), update, context)
      }
      for kind in APIAction.Kind.allCases {
        routes.on("\(root)/downloads/{id}/\(kind.rawValue)", .post) { request, route in
          try noParameters(request)
          let bytes = try await body(of: request, context, isRequired: false)
          let action = try APIRequests.action(kind, of: try route.part("id"), bytes)
          return try await perform(action, context, isSingle: true)
        }
      }
    }

    // MARK: Requests

    private static func noParameters(_ request: Request) throws {
      guard (request.uri.query ?? "").isEmpty else {
        throw ServerError(.invalidRequest, "the path takes no parameters")
      }
    }

    /// Reads the body, which has a greatest size and must arrive in time.
    private static func body(
      of request: Request,
      _ context: ServerContext,
      isRequired: Bool = true
    ) async throws -> [UInt8] {
      let bytes = try await RequestBytes.read(request, context.limits)
      guard isRequired || !bytes.isEmpty else { return [] }
      // A form of another site's page cannot have this type.
      let type = request.headers[.contentType] ?? ""
      let name = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
      guard name == "application/json" else {
        throw ServerError(.unsupportedMediaType, "the body must be of the type application/json")
      }
      return bytes
    }

    // MARK: Answers

    private static func stats(_ context: ServerContext) async throws -> Response {
      let summary = context.feed.summary
      return try await context.read { store in
        let engineRuns = store.hasEngine
        return Response(
          json: APIAnswers.stats(
            try store.totals(engineRuns: engineRuns),
            summary,
            engineRuns: engineRuns,
            allowsChanges: context.allowsChanges
          )
        )
      }
    }

    private static func list(_ query: APIQuery, _ context: ServerContext) async throws -> Response {
      try await context.read { store in
        let engineRuns = store.hasEngine
        let roots = try store.roots()
        let page = try store.objects.read { tx in
          try query.page(engineRuns: engineRuns).read(in: &tx, roots, engineRuns: engineRuns)
        }
        return Response(json: APIAnswers.page(page))
      }
    }

    private static func inspect(_ name: String, _ context: ServerContext) async throws -> Response {
      try await context.read { store in
        let record = try store.record(matching: name)
        guard record.state != .removed else {
          throw ServerError(.notFound, "the download is being removed")
        }
        return Response(json: try inspection(of: record, in: store))
      }
    }

    private static func inspection(
      of record: DownloadRecord,
      in store: RecordStore
    ) throws -> JSONValue {
      let entry = DownloadEntry(record, try store.roots(), engineRuns: store.hasEngine)
      return RecordJSON.inspection(
        of: entry,
        headers: try store.headers(of: record),
        revealsSecrets: false
      )
    }

    private static func add(
      _ requests: [DownloadRequest],
      _ context: ServerContext
    ) async throws -> Response {
      try await context.read { store in
        let added = try store.addNow(requests)
        let json = APIAnswers.added(added, try store.roots(), engineRuns: store.hasEngine)
        return Response(json: json, status: .created)
      }
    }

    private static func change(
      _ name: String,
      _ update: RecordUpdate,
      _ context: ServerContext
    ) async throws -> Response {
      try await context.read { store in
        switch try store.updateNow(matching: name, with: update).effect {
        case .done(let record), .unchanged(let record):
          return Response(json: try inspection(of: record, in: store))
        case .unknown(let error): throw error
        }
      }
    }

    /// Performs a command; for a single download, an unknown name is an error.
    private static func perform(
      _ action: APIAction,
      _ context: ServerContext,
      isSingle: Bool = false
    ) async throws -> Response {
      let outcomes = try await context.read { store in try action.apply(to: store) }
      if isSingle, case .unknown(let error)? = outcomes.first?.effect { throw error }
      try await action.carryOut(outcomes, in: context.store)
      return Response(
        json: APIAnswers.outcomes(outcomes, engineRuns: context.store.hasEngine)
      )
    }
  }
#endif
