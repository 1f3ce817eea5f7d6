internal import Foundation
internal import ObjectStore

/// A request to aria2's JSON-RPC: one call, a batch, or something that is neither.
enum Aria2Request: Sendable, Hashable {
  case call(Aria2Call)
  case batch([Aria2Call])
  /// Text that is not JSON.
  case syntaxError
  /// JSON that is neither an object nor an array.
  case invalid
  /// A batch with too many elements, or text with too many values to be parsed.
  case tooLong

  /// The largest number of calls in one request, those of `system.multicall` included.
  static let mostCalls = 1_000
  /// The largest number of values in one request, nearly: commas and escapes are counted.
  static let mostValues = 100_000

  /// Reads the body of a POST request.
  init(body: [UInt8]) {
    // Clients without the token can send this, too, and parsing costs a microsecond for each.
    let marks = body.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\\") }
    guard marks <= Self.mostValues else {
      self = .tooLong
      return
    }
    self = (try? JSONParser.parse(body)).map { Self($0) } ?? .syntaxError
  }

  private init(_ json: JSONValue) {
    switch json {
    case .object: self = .call(Aria2Call(json))
    // As in aria2, elements that are no objects have no answer.
    case .array(let elements):
      guard elements.count <= Self.mostCalls else {
        self = .tooLong
        return
      }
      self = .batch(
        elements.compactMap { if case .object = $0 { Aria2Call($0) } else { nil } }
      )
    default: self = .invalid
    }
  }

  /// Reads the query of a GET request: `method`, `id`, and `params` as JSON in Base64, or a whole batch
  /// in `params`.
  ///
  /// - Parameter query: The names and the values of the query, with percent-encoding.
  init(query: [(name: Substring, value: Substring)]) {
    func value(_ name: String) -> String? {
      query.first { $0.name == name }.map {
        let text = String($0.value)
        return text.removingPercentEncoding ?? text
      }
    }
    var parameters: JSONValue?
    if let text = value("params"), !text.isEmpty {
      // Some clients leave the padding out, and `+` may have become a space.
      let text = text.replacing(" ", with: "+")
      let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
      guard let data = Data(base64Encoded: text + padding),
        let json = try? JSONParser.parse(Array(data))
      else {
        self = .syntaxError
        return
      }
      parameters = json
    }
    let (method, id) = (value("method"), value("id"))
    guard method != nil || id != nil else {
      self = parameters.map { Self($0) } ?? .invalid
      return
    }
    self = .call(
      Aria2Call(
        id: id.map(JSONValue.string),
        method: method,
        parameters: parameters
      )
    )
  }
}

/// One call of a method.
struct Aria2Call: Sendable, Hashable {
  /// The id, which the answer repeats; `nil` if it is missing, which makes the call invalid.
  var id: JSONValue?
  /// The name of the method; `nil` if it is missing or not a string.
  var method: String?
  /// The parameters; `nil` if there are none.
  var parameters: JSONValue?

  /// The number of calls in a `system.multicall`; 1 for any other method.
  var count: Int {
    guard method == Aria2Method.multicall.rawValue, case .array(let values)? = parameters else {
      return 1
    }
    return values.reduce(0) { count, value in
      if case .array(let calls) = value { count + calls.count } else { count }
    }
  }

  init(id: JSONValue?, method: String?, parameters: JSONValue?) {
    (self.id, self.method, self.parameters) = (id, method, parameters)
  }

  /// Reads a JSON object.
  init(_ json: JSONValue) {
    id = json["id"]
    if case .string(let name) = json["method"] { method = name }
    parameters = json["params"]
  }
}

/// The answer to a request, before it is sent.
struct Aria2Answer: Sendable, Hashable {
  /// The status of the HTTP response, as aria2 chooses it: clients take only a failing status for a
  /// failed call.
  var status: Int
  var json: JSONValue

  /// The body of the response.
  var body: [UInt8] {
    var bytes: [UInt8] = []
    json.write(to: &bytes)
    return bytes
  }

  /// The answer to one call.
  init(id: JSONValue?, _ result: Result<JSONValue, Aria2Error>) {
    var members = [
      JSONValue.Member(name: "id", value: id ?? .null),
      JSONValue.Member(name: "jsonrpc", value: .string("2.0")),
    ]
    switch result {
    case .success(let value):
      status = 200
      members.append(JSONValue.Member(name: "result", value: value))
    case .failure(let error):
      status = error.status
      members.append(JSONValue.Member(name: "error", value: error.json))
    }
    json = .object(members)
  }

  /// The answer to a batch.
  init(batch: [Aria2Answer]) {
    status = 200
    json = .array(batch.map(\.json))
  }
}

/// A call that fails, with the code and the message of its answer.
struct Aria2Error: Error, Sendable, Hashable {
  /// 1 for a failed call, or a code of JSON-RPC 2.0.
  var code: Int
  var message: String

  /// A call that the method refuses.
  init(_ message: String) {
    self.init(code: 1, message)
  }

  init(code: Int, _ message: String) {
    (self.code, self.message) = (code, message)
  }

  /// The token is missing or wrong; clients know this text.
  static let unauthorized = Self("Unauthorized")
  static let syntaxError = Self(code: -32_700, "Parse error.")
  static let invalidRequest = Self(code: -32_600, "Invalid Request.")
  static let invalidParameters = Self(code: -32_602, "Invalid params.")

  /// The status of the HTTP response.
  var status: Int { code == 1 || code == -32_600 ? 400 : 500 }

  var json: JSONValue {
    ["code": .integer(Int64(code)), "message": .string(message)]
  }
}
