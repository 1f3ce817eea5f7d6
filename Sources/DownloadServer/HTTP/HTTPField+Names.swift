#if Server
  internal import HTTPTypes

  extension HTTPField.Name {
    static let host = named("Host")
    static let lastEventID = named("Last-Event-ID")
    static let accelBuffering = named("X-Accel-Buffering")
    static let fetchSite = named("Sec-Fetch-Site")
    static let requestPrivateNetwork = named("Access-Control-Request-Private-Network")
    static let allowPrivateNetwork = named("Access-Control-Allow-Private-Network")

    private static func named(_ text: String) -> Self {
      guard let name = Self(text) else {
        preconditionFailure("'\(text)' is not the name of a field")
      }
      return name
    }
  }
#endif
