internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// The OpenAPI document that the API serves (OpenAPI 3.1).
///
/// Written beside the routes, so that both change together; a test compares their paths and methods.
enum APIDocument {
  /// The document.
  static let json: JSONValue = [
    "openapi": "3.1.0",
    "info": [
      "title": "dlstore",
      "version": "1",
      "description": .string(
        "The downloads of a store. Shapes and words are those of the command line. Every request "
          + "needs the token of the server; those that change something need --allow-changes."
      ),
    ],
    "security": .array([["token": .array([])]]),
    "paths": paths,
    "components": [
      "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
      "schemas": APISchemas.json,
      "responses": [
        "error": [
          "description": "The request has failed: a code for programs, and a sentence for people.",
          "content": content(reference("error")),
        ]
      ],
    ],
  ]

  private static let paths: JSONValue = .object(
    [
      member(
        "/api/v1/openapi.json",
        ["get": operation("This document.", answer: ["type": "object"])]
      ),
      member("/api/v1/stats", ["get": operation("The totals.", answer: reference("stats"))]),
      member(
        "/api/v1/downloads",
        [
          "get": operation(
            "A page of the downloads that match all parameters.",
            parameters: listParameters,
            answer: reference("page"),
            errors: ["400", "409"]
          ),
          "post": operation(
            "Adds downloads, all of them or none. A known one continues.",
            body: reference("additions"),
            status: "201",
            answer: reference("added"),
            errors: ["400", "403", "408", "409", "413", "415"]
          ),
        ]
      ),
      member(
        "/api/v1/downloads/actions",
        [
          "post": operation(
            "Performs a command for many downloads. An unknown id does not affect the others.",
            body: reference("action"),
            answer: reference("outcomes"),
            errors: ["400", "403", "408", "413", "415"]
          )
        ]
      ),
      member(
        "/api/v1/downloads/{id}",
        [
          "parameters": .array([idParameter]),
          "get": operation(
            "A download with its files, its failed attempts and what happens next.",
            answer: reference("inspection"),
            errors: ["400", "404", "409"]
          ),
          "patch": operation(
            "Changes properties of a download.",
            body: reference("update"),
            answer: reference("inspection"),
            errors: ["400", "403", "404", "408", "409", "413", "415"]
          ),
        ]
      ),
    ]
      + APIAction.Kind.allCases.map { kind in
        member(
          "/api/v1/downloads/{id}/\(kind.rawValue)",
          [
            "parameters": .array([idParameter]),
            "post": operation(
              summary(of: kind),
              body: reference("options"),
              isBodyRequired: false,
              answer: reference("outcomes"),
              errors: ["400", "403", "404", "408", "409", "413", "415"]
            ),
          ]
        )
      }
  )

  private static func summary(of kind: APIAction.Kind) -> String {
    switch kind {
    case .pause: "Pauses the download; keeps the bytes on disk."
    case .resume: "Resumes the download from the bytes on disk."
    case .start: "Starts the download before all others."
    case .retry: "Tries a failed download again."
    case .cancel: "Cancels the download: deletes the partial file, keeps the record."
    case .restart: "Restarts the download from the first byte."
    case .remove: "Removes the download: deletes the partial file and the record."
    }
  }

  private static let idParameter: JSONValue = [
    "name": "id", "in": "path", "required": true,
    "description": "An id, an id prefix of which there is only one, a URL, a key or a file name.",
    "schema": ["type": "string", "minLength": 1],
  ]

  private static let listParameters: [JSONValue] = [
    parameter(
      "state",
      "States; a download matches one of them.",
      ["type": "array", "items": reference("state")],
      isList: true
    ),
    parameter(
      "tag",
      "Tags; a download has all of them.",
      ["type": "array", "items": ["type": "string", "minLength": 1, "pattern": "^[^,]+$"]],
      isList: true
    ),
    parameter("type", "The type.", ["type": "string", "minLength": 1]),
    parameter(
      "match",
      "A shell pattern for the URL or the file name.",
      ["type": "string", "minLength": 1]
    ),
    parameter(
      "host",
      "A host or a pattern for hosts, also with a port.",
      ["type": "string", "minLength": 1]
    ),
    parameter(
      "sort",
      "A field, also with a direction. Records without a value come first in ascending order. Without "
        + "it, downloads come in the order in which they were added.",
      [
        "type": "string",
        "enum": .array(
          PageOrder.names.flatMap { [$0, "\($0):asc", "\($0):desc"] }.map(JSONValue.string)
        ),
      ]
    ),
    parameter(
      "limit",
      "The number of downloads on a page.",
      [
        "type": "integer", "minimum": 1, "maximum": .integer(Int64(APIQuery.maximumSize)),
        "default": 100,
      ]
    ),
    parameter(
      "after",
      "The 'next' of the previous page, for the same parameters.",
      ["type": "string", "pattern": "^[0-9a-f]+$"]
    ),
  ]

  // MARK: Parts

  private static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
    JSONValue.Member(name: name, value: value)
  }

  static func reference(_ name: String) -> JSONValue {
    ["$ref": .string("#/components/schemas/\(name)")]
  }

  private static func content(_ schema: JSONValue) -> JSONValue {
    ["application/json": ["schema": schema]]
  }

  private static func parameter(
    _ name: String,
    _ description: String,
    _ schema: JSONValue,
    isList: Bool = false
  ) -> JSONValue {
    var members: [JSONValue.Member] = [
      member("name", .string(name)), member("in", "query"),
      member("description", .string(description)), member("schema", schema),
    ]
    if isList { members += [member("style", "form"), member("explode", true)] }
    return .object(members)
  }

  private static func operation(
    _ summary: String,
    parameters: [JSONValue] = [],
    body: JSONValue? = nil,
    isBodyRequired: Bool = true,
    status: String = "200",
    answer: JSONValue,
    errors: [String] = ["400"]
  ) -> JSONValue {
    var members = [member("summary", .string(summary))]
    if !parameters.isEmpty { members.append(member("parameters", .array(parameters))) }
    if let body {
      members.append(
        member("requestBody", ["required": .bool(isBodyRequired), "content": content(body)])
      )
    }
    let failures = Set(errors + ["401", "403", "500"]).sorted().map { code in
      member(code, ["$ref": "#/components/responses/error"])
    }
    let success = member(status, ["description": "Done.", "content": content(answer)])
    members.append(member("responses", .object([success] + failures)))
    return .object(members)
  }
}
