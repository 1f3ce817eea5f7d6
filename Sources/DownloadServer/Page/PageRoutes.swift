#if Server
  internal import DownloadReports
  internal import DownloadStore
  internal import DownloadSync
  internal import Hummingbird
  internal import ObjectStore
  internal import ProgramOutput

  /// The routes of the pages: the list of downloads, one download, the store, and their forms.
  ///
  /// A form is answered with 303 and the page to show, so that reloading a page repeats no command.
  enum PageRoutes {
    /// Adds the routes.
    static func add(to routes: inout ServerRoutes, _ context: ServerContext) {
      for asset in PageAssets.all {
        routes.on(asset.path, .get) { _, _ in response(asset) }
      }
      let pages = Pages(context: context)
      routes.on("/", .get) { request, _ in try await pages.list(request) }
      routes.on("/tags", .get) { request, _ in try await pages.tags(request) }
      routes.on("/downloads/{id}", .get) { request, router in
        try await pages.download(try router.part("id"), request)
      }
      routes.on("/remove", .get) { request, _ in try await pages.chosen(request, isRemoval: true) }
      routes.on("/change", .get) { request, _ in try await pages.chosen(request, isRemoval: false) }
      routes.on("/store", .get) { request, _ in try await pages.store(request) }
      routes.on("/store/{model}", .get) { request, router in
        try await pages.model(try router.part("model"), request)
      }
      routes.on("/commands", .post) { request, _ in
        try await pages.carryOut(request) { try await $0.command($1) }
      }
      routes.on("/add", .post) { request, _ in
        try await pages.carryOut(request) { try await $0.add($1) }
      }
      routes.on("/remove", .post) { request, _ in
        try await pages.carryOut(request) { try await $0.remove($1) }
      }
      routes.on("/change", .post) { request, _ in
        try await pages.carryOut(request) { try await $0.change($1) }
      }
    }

    private static func response(_ asset: PageAsset) -> Response {
      Response(
        status: .ok,
        headers: [
          .contentType: asset.type, .cacheControl: "private, max-age=31536000, immutable",
        ],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes))
      )
    }
  }

  /// What answers the requests for pages.
  private struct Pages: Sendable {
    let context: ServerContext
    let notices = PageNotices()

    // MARK: Downloads

    func list(_ request: Request) async throws -> Response {
      let fields = request.fields
      let query = DownloadListQuery(fields)
      let (page, frame, problem) = try await context.read { store in
        let frame = try PageFrame(of: store)
        let page = DownloadListPage(query: query, engineRuns: frame.engine != nil)
        let problem = try DownloadListQuery.problem(in: fields) ?? page.positionProblem(in: store)
        return (page, frame, problem)
      }
      if let problem {
        let html = ListProblemView(problem: problem, query: query).html
        return await respond(
          [.ready(html)],
          "Downloads",
          .downloads,
          frame,
          request,
          status: .badRequest
        )
      }
      let summary = try await summary(engineRuns: page.engineRuns)
      let view = DownloadListView(
        page: page,
        counts: summary.counts,
        bytesPerSecond: summary.bytesPerSecond,
        speed: context.feed.speed,
        allowsChanges: context.allowsChanges
      )
      return await respond(view.parts, "Downloads", .downloads, frame, request)
    }

    /// The totals of the feed; without a first look of the feed, those of the store.
    private func summary(engineRuns: Bool) async throws -> LiveChange.Summary {
      let summary = context.feed.summary
      guard summary.counts.isEmpty else { return summary }
      return try await context.read { store in
        var counts = StateCounts()
        try store.objects.read { tx in try counts.update(in: &tx) }
        var summary = LiveChange.Summary()
        summary.counts = counts.words(engineRuns: engineRuns)
        return summary
      }
    }

    func tags(_ request: Request) async throws -> Response {
      let frame = try await context.read { store in try PageFrame(of: store) }
      return await respond(TagList.parts, "Tags", .downloads, frame, request)
    }

    func download(_ id: String, _ request: Request) async throws -> Response {
      let context = context
      let (parts, title, frame) = try await context.read { store in
        let frame = try PageFrame(of: store)
        let record = try store.record(matching: id)
        let view = DownloadDetailView(
          entry: DownloadEntry(record, try store.roots(), engineRuns: frame.engine != nil),
          headers: try store.headers(of: record),
          speed: context.feed.speed(of: record.id),
          allowsChanges: context.allowsChanges
        )
        return (view.parts, record.filename, frame)
      }
      return await respond(parts, title, .downloads, frame, request)
    }

    func chosen(_ request: Request, isRemoval: Bool) async throws -> Response {
      guard context.allowsChanges else {
        throw ServerError(.readOnly, "the server changes nothing: start it with --allow-changes")
      }
      let fields = request.fields
      let ids = fields.values("id")
      let (frame, records) = try await context.read { store in
        // Rows have ids: the search for a file name would read all downloads, for each name.
        (try PageFrame(of: store), try store.records(DownloadRecord.where { $0.id.isIn(ids) }))
      }
      let back = PageCommands.localAddress(fields["back"])
      guard !records.isEmpty else {
        return redirect(
          to: back,
          PageNotice(
            kind: .warn,
            text: "No download is selected: tick the boxes of some rows first."
          )
        )
      }
      let html =
        isRemoval
        ? RemoveView(records: records, back: back).html
        : ChangeView(records: records, back: back).html
      let title = isRemoval ? "Remove" : "Change"
      return await respond([.ready(html)], title, .downloads, frame, request)
    }

    // MARK: Store

    func store(_ request: Request) async throws -> Response {
      let frame = try await context.read { store in try PageFrame(of: store) }
      return await respond(StoreOverviewView.parts, "Store", .store, frame, request)
    }

    func model(_ name: String, _ request: Request) async throws -> Response {
      let fields = request.fields
      let (parts, frame, isQuery) = try await context.read { store in
        let frame = try PageFrame(of: store)
        do {
          guard fields["object"] == nil, fields["key"] == nil else {
            let view = try StoreObjectView(fields, model: name, in: store.objects)
            return ([PagePart.ready(view.html)], frame, true)
          }
          let page = try StoreModelPage(StoreModelQuery(fields), model: name, in: store.objects)
          return (StoreModelView(page: page).parts, frame, page.problem == nil)
        } catch let failure as CommandFailure {
          throw ServerError(.notFound, failure.message ?? "the store has no such object")
        }
      }
      let status: HTTPResponse.Status = isQuery ? .ok : .badRequest
      return await respond(parts, name, .store, frame, request, status: status)
    }

    // MARK: Forms

    func carryOut(
      _ request: Request,
      _ body: (PageCommands, FormFields) async throws -> PageNotice
    ) async throws -> Response {
      let form = try await form(of: request)
      let commands = PageCommands(store: context.store, engineRuns: context.store.hasEngine)
      let notice = try await body(commands, form)
      return redirect(to: PageCommands.localAddress(form["back"]), notice)
    }

    private func form(of request: Request) async throws -> FormFields {
      var request = request
      let body = try await request.collectBody(upTo: context.limits.bodyBytes)
      return FormFields(String(buffer: body))
    }

    private func redirect(to address: String, _ notice: PageNotice) -> Response {
      let name = notices.keep(notice)
      let separator = address.contains("?") ? "&" : "?"
      return Response(
        status: .seeOther,
        headers: [.location: "\(address)\(separator)notice=\(name)"]
      )
    }

    // MARK: Answers

    private func respond(
      _ parts: [PagePart],
      _ title: String,
      _ section: PageShell.Section,
      _ frame: PageFrame,
      _ request: Request,
      status: HTTPResponse.Status = .ok
    ) async -> Response {
      let notice = request.fields["notice"].flatMap(notices.notice)
      let shell = PageShell(title, section, frame, of: context, notice: notice)
      let page: [PagePart] = [.ready(shell.beginning)] + parts + [.ready(shell.end)]
      return await PageStream(parts: page, context: context).response(status)
    }
  }

  extension Request {
    /// The fields of the query.
    fileprivate var fields: FormFields { FormFields(uri.query ?? "") }
  }
#endif
