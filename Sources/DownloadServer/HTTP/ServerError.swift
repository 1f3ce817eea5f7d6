package import ObjectStore
internal import ProgramOutput

/// An answer that is an error: a status, a code for programs and a sentence for people.
package struct ServerError: Error, Sendable, Hashable {
  /// What is wrong.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request is malformed: a parameter, the body or the target.
    case invalidRequest
    /// The client has not proved that it may use the server.
    case notSignedIn
    /// Another site's page has sent the request, or the request names another host.
    case forbidden
    /// The server changes nothing.
    case readOnly
    /// The path or the download does not exist.
    case notFound
    /// The path has no such method.
    case methodNotAllowed
    /// Several downloads have the name.
    case ambiguous
    /// The download is in a state, or has a property, that the request contradicts.
    case conflict
    /// The body is too large.
    case tooLarge
    /// The body is not JSON.
    case unsupportedMediaType
    /// The body did not arrive in time.
    case timeout
    /// The server has reached a limit.
    case busy
    /// The folder of the store or its file was moved, deleted or replaced.
    case storeReplaced
    /// The store could not be read or written.
    case storeFailed

    /// The HTTP status.
    package var status: Int {
      switch self {
      case .invalidRequest: 400
      case .notSignedIn: 401
      case .forbidden, .readOnly: 403
      case .notFound: 404
      case .methodNotAllowed: 405
      case .timeout: 408
      case .ambiguous, .conflict: 409
      case .tooLarge: 413
      case .unsupportedMediaType: 415
      case .storeFailed: 500
      case .busy, .storeReplaced: 503
      }
    }
  }

  package var code: Code
  /// What happened and what to do, without a full stop.
  package var message: String
  /// The methods of the path, for ``Code/methodNotAllowed``.
  package var allowedMethods: [String] = []

  /// Creates an error.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The body of the answer: `{"error":{"code":…,"message":…}}`.
  package var json: JSONValue {
    ["error": ["code": .string(code.rawValue), "message": .string(message)]]
  }
}

extension AccessRules.Refusal {
  /// The answer to a refused request.
  var error: ServerError {
    switch self {
    case .invalidTarget: ServerError(.invalidRequest, "the target of the request is not a path")
    case .hostNotAllowed:
      ServerError(
        .forbidden,
        "the request names another host: call the server by its address, or start it with --host-name"
      )
    case .notSignedIn:
      ServerError(
        .notSignedIn,
        "open the address with the token that the server has printed, or send 'Authorization: Bearer "
          + "TOKEN'"
      )
    case .crossSite:
      ServerError(.forbidden, "the request comes from a page of another site")
    case .readOnly:
      ServerError(.readOnly, "the server changes nothing: start it with --allow-changes")
    }
  }
}
