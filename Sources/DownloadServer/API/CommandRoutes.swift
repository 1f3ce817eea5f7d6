#if Server
  internal import Hummingbird
  internal import ObjectStore

  /// `/api/v1/command`: runs a command of the command line on the store, for `dlstore --server`.
  ///
  /// `GET` runs commands that change nothing, and `POST` all that the server allows, with the text of the
  /// list of `--input-file` as `input`, or as `inputBytes` if it is not UTF-8. The answer has the
  /// output and the exit code; decision 0111 says why it is not built from the other answers of the API.
  enum CommandRoutes {
    private static let path = "/api/v1/command"

    /// Adds the routes; none if the program has no command line.
    static func add(to routes: inout ServerRoutes, _ context: ServerContext) {
      guard let run = context.runCommand else { return }
      // Commands that wait for another writer of the store keep no others out that only read.
      let readers = ClientPlaces(maximum: context.limits.commands)
      let writers = ClientPlaces(maximum: context.limits.commands)
      routes.on(path, .get) { request, _ in
        let items = try QueryItems.decode(request.uri.query ?? "")
        guard items.allSatisfy({ $0.name == "argument" }) else {
          throw ServerError(.invalidRequest, "the path takes only parameters 'argument'")
        }
        return try await answer(items.map(\.value), nil, mayChange: false, run, readers)
      }
      routes.on(path, .post) { request, _ in
        let type = request.headers[.contentType] ?? ""
        guard type.prefix(while: { $0 != ";" }).lowercased() == "application/json" else {
          throw ServerError(.unsupportedMediaType, "the body must be of the type application/json")
        }
        var body = try JSONBody(try await RequestBytes.read(request, context.limits))
        let arguments = try body.texts("arguments")
        let input = try Self.input(of: &body)
        try body.end()
        return try await answer(arguments, input, mayChange: true, run, writers)
      }
    }

    /// Runs a command if there is a place for it.
    private static func answer(
      _ arguments: [String],
      _ input: [UInt8]?,
      mayChange: Bool,
      _ run: ServerOptions.CommandRunner,
      _ places: ClientPlaces
    ) async throws(ServerError) -> Response {
      guard let place = places.place() else {
        throw ServerError(.busy, "too many commands run already: try again later")
      }
      defer { withExtendedLifetime(place) {} }
      return Response(json: await run(arguments, input, mayChange).json)
    }

    /// The bytes of the list; each character of `inputBytes` stands for one.
    private static func input(of body: inout JSONBody) throws(ServerError) -> [UInt8]? {
      guard let text = try body.text("inputBytes") else {
        return try body.text("input").map { Array($0.utf8) }
      }
      let bytes = text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
      guard bytes.count == text.unicodeScalars.count else {
        throw ServerError(.invalidRequest, "'inputBytes' has a character above U+00FF")
      }
      return bytes
    }
  }
#endif
