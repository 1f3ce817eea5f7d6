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
  }
#endif
