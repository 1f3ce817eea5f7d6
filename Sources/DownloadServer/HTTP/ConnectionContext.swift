#if Server
  internal import Hummingbird
  internal import NIOCore

  /// What a route knows about a request beside the request itself.
  struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
    }

    /// Returns a part of the path that is a parameter of the route, decoded.
    ///
    /// - Throws: ``ServerError`` with `invalidRequest` if it is empty or not UTF-8.
    func part(_ name: String) throws(ServerError) -> String {
      guard let text = parameters.get(name),
        let part = QueryItems.decoded(text, plusIsBlank: false), !part.isEmpty
      else { throw ServerError(.invalidRequest, "the path has no \(name)") }
      return part
    }
  }
#endif
