/// The methods of the server's paths, for answers about paths and methods that no route has.
struct RouteMethods: Sendable {
  /// The methods of a path; a part in braces stands for any word.
  private var paths: [(parts: [Substring], methods: [String])] = []

  /// Adds a path with its methods.
  mutating func add(_ path: String, _ methods: [String]) {
    paths.append((path.split(separator: "/"), methods))
  }

  /// Each method with its path, such as `GET /events`.
  var all: [String] {
    paths.flatMap { path in path.methods.map { "\($0) /\(path.parts.joined(separator: "/"))" } }
  }

  /// Returns the error for a request that no route answers.
  func error(for method: String, _ path: String) -> ServerError {
    let parts = path.split(separator: "/")
    let matches = paths.filter { Self.matches($0.parts, parts) }
    // As for the router, a path without parameters comes first.
    let exact = matches.filter { $0.parts == parts }
    let methods = (exact.isEmpty ? matches : exact).flatMap(\.methods)
    guard !methods.isEmpty, !methods.contains(method) else {
      return ServerError(.notFound, "the server has no such path")
    }
    let list = methods.joined(separator: ", ")
    var error = ServerError(.methodNotAllowed, "the path accepts \(list)")
    error.allowedMethods = methods
    return error
  }

  private static func matches(_ pattern: [Substring], _ parts: [Substring]) -> Bool {
    pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
  }
}
