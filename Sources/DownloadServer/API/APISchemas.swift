internal import DownloadStore
internal import ObjectStore

/// The schemas of the API's document.
enum APISchemas {
  static let json: JSONValue = [
    "error": object(
      ["error": object(["code": codes, "message": text], isClosed: true)],
      isClosed: true
    ),
    "state": ["type": "string", "enum": strings(DownloadState.words)],
    "download": download,
    "inspection": [
      "allOf": .array([
        reference("download"),
        object([
          "files": nullable("object"), "headers": list(reference("header")),
          "history": list(["type": "object"]), "next": nullable("object"),
          "pendingHooks": list(text), "ranges": nullable("array"), "resumeData": nullable("object"),
          "root": text, "turn": nullable("string"),
        ]),
      ])
    ],
    "header": object(["name": text, "value": text]),
    "page": object(
      ["downloads": list(reference("download")), "next": nullable("string")],
      isClosed: true
    ),
    "stats": object([
      "allowsChanges": flag, "bytes": count, "bytesPerSecond": count, "engineRuns": flag,
      "records": count,
      "states": [
        "type": "object", "additionalProperties": object(["bytes": count, "records": count]),
      ],
    ]),
    "additions": object(
      [
        "requests": [
          "type": "array", "minItems": 1,
          "maxItems": .integer(Int64(APIRequests.maximumAdditions)), "items": reference("request"),
        ]
      ],
      isClosed: true
    ),
    "request": request,
    "added": object(
      ["added": list(object(["download": reference("download"), "new": flag]))],
      isClosed: true
    ),
    "action": action,
    "options": ["type": "object", "properties": options, "additionalProperties": false],
    "outcomes": object([
      "done": count,
      "outcomes": list(
        object([
          "filename": nullable("string"), "id": nullable("string"), "message": nullable("string"),
          "name": text,
          "outcome": ["type": "string", "enum": strings(outcomes)],
          "state": nullable("string"),
        ])
      ),
    ]),
    "update": update,
  ]

  private static let download = object([
    "attempts": count, "checksum": nullable("object"), "completedAt": nullable("string"),
    "connections": nullable("integer"), "createdAt": text, "displayURL": text, "fileStatus": text,
    "filename": text, "folder": text, "heldByHand": flag, "id": text, "intent": text,
    "keepVersions": nullable("integer"), "keys": list(text),
    "lastError": nullable("object"), "limitRate": nullable("integer"),
    "localPath": nullable("string"), "mirrors": list(text), "nextRefreshAt": nullable("string"),
    "nextRetryAt": nullable("string"), "notBefore": nullable("string"),
    "priority": ["type": "integer"],
    "progress": object([
      "expected": nullable("integer"), "fraction": nullable("number"), "received": count,
    ]),
    "refreshEvery": nullable("integer"), "resume": nullable("object"), "state": text,
    "tags": list(text), "type": text, "updatedAt": text, "url": text,
  ])

  private static let request: JSONValue = [
    "type": "object",
    "required": .array(["url"]),
    "additionalProperties": false,
    "properties": [
      "url": [
        "type": "string", "pattern": "^https?://.", "description": "An http or https URL.",
      ],
      "key": optionalText, "filename": optionalText, "folder": optional("string"),
      "type": optionalText, "priority": int32, "connections": positive32,
      "tags": optionalList(["type": "string", "minLength": 1]),
      "mirrors": optionalList(["type": "string", "pattern": "^https?://."]),
      "limitRate": rate,
      "notBefore": time,
      "refreshEvery": period, "keepVersions": versions,
      "paused": optional("boolean"),
      "ifExists": [
        "enum": .array(NameCollision.allCases.map { .string($0.rawValue) } + [.null])
      ],
      "checksum": [
        "type": .array(["string", "null"]), "description": "ALGORITHM:HEX, such as sha256:….",
      ],
      "headers": optionalList([
        "type": "object", "required": .array(["name", "value"]), "additionalProperties": false,
        "properties": ["name": text, "value": text],
      ]),
    ],
  ]

  private static let update: JSONValue = [
    "type": "object", "minProperties": 1, "additionalProperties": false,
    "properties": [
      "addTags": optionalList(["type": "string", "minLength": 1]),
      "removeTags": optionalList(["type": "string", "minLength": 1]),
      "connections": positive32, "filename": optional("string"), "limitRate": rate,
      "notBefore": time, "priority": int32, "refreshEvery": period, "keepVersions": versions,
      "type": optional("string"),
      "url": ["type": .array(["string", "null"]), "pattern": "^https?://."],
    ],
  ]

  private static let options: JSONValue = [
    "dryRun": ["type": .array(["boolean", "null"]), "description": "Whether to change nothing."],
    "withFile": [
      "type": .array(["boolean", "null"]),
      "description": "Whether 'remove' also deletes the finished file.",
    ],
  ]

  private static let action: JSONValue = {
    guard case .object(let common) = options else { return .null }
    let properties: [JSONValue.Member] =
      [
        .init(
          name: "action",
          value: ["type": "string", "enum": strings(APIAction.Kind.allCases.map(\.rawValue))]
        ),
        .init(name: "ids", value: list(text)),
        .init(
          name: "filter",
          value: [
            "type": "object", "additionalProperties": false, "minProperties": 1,
            "properties": [
              "host": optionalText, "match": optionalText, "type": optionalText,
              "state": optionalList(reference("state")),
              "tag": optionalList(["type": "string", "minLength": 1]),
            ],
          ]
        ),
      ] + common
    return [
      "type": "object", "required": .array(["action"]), "additionalProperties": false,
      "properties": .object(properties),
      "oneOf": .array([
        ["required": .array(["ids"])], ["required": .array(["filter"])],
      ]),
    ]
  }()

  // MARK: Parts

  private static let text: JSONValue = ["type": "string"]
  private static let flag: JSONValue = ["type": "boolean"]
  private static let count: JSONValue = ["type": "integer", "minimum": 0]
  private static let optionalText: JSONValue = [
    "type": .array(["string", "null"]), "minLength": 1,
  ]
  private static let int32: JSONValue = [
    "type": .array(["integer", "null"]), "minimum": .integer(Int64(Int32.min)),
    "maximum": .integer(Int64(Int32.max)),
  ]
  private static let positive32: JSONValue = [
    "type": .array(["integer", "null"]), "minimum": 1, "maximum": .integer(Int64(Int32.max)),
  ]
  private static let rate: JSONValue = [
    "type": .array(["integer", "null"]), "minimum": 1, "maximum": .integer(.max),
    "description": "Bytes per second.",
  ]
  private static let time: JSONValue = [
    "type": .array(["string", "null"]), "format": "date-time",
  ]
  private static let period: JSONValue = [
    "type": .array(["integer", "null"]), "minimum": .integer(RecordLimits.refreshPeriod.lowerBound),
    "maximum": .integer(RecordLimits.refreshPeriod.upperBound),
    "description": "The seconds between two refreshes.",
  ]
  private static let versions: JSONValue = [
    "type": .array(["integer", "null"]), "minimum": 1,
    "maximum": .integer(Int64(RecordLimits.versionCount.upperBound)),
    "description": "The number of previous versions that are kept.",
  ]
  private static let outcomes = ["done", "unchanged", "unknown", "ambiguous"]
  private static let codes: JSONValue = [
    "type": "string", "enum": strings(ServerError.Code.allCases.map(\.rawValue)),
  ]

  private static func reference(_ name: String) -> JSONValue { APIDocument.reference(name) }

  private static func strings(_ words: [String]) -> JSONValue {
    .array(words.map(JSONValue.string))
  }

  private static func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }

  private static func optionalList(_ items: JSONValue) -> JSONValue {
    ["type": .array(["array", "null"]), "items": items]
  }

  private static func optional(_ type: String) -> JSONValue {
    ["type": .array([.string(type), "null"])]
  }

  private static func nullable(_ type: String) -> JSONValue { optional(type) }

  /// An object, all of whose members are required.
  private static func object(_ properties: JSONValue, isClosed: Bool = false) -> JSONValue {
    guard case .object(let members) = properties else { return .null }
    return .object(
      [
        .init(name: "type", value: "object"),
        .init(name: "required", value: strings(members.map(\.name))),
        .init(name: "properties", value: properties),
      ] + (isClosed ? [.init(name: "additionalProperties", value: .bool(false))] : [])
    )
  }
}
