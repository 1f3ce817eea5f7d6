package import ObjectStore

/// What a command of the command line has printed, and how it ended.
package struct CommandAnswer: Sendable, Hashable {
  /// The exit code.
  package var status: Int32
  /// The text on standard output.
  package var output: String
  /// The text on standard error.
  package var messages: String

  /// Creates an answer.
  package init(status: Int32, output: String = "", messages: String = "") {
    self.status = status
    self.output = output
    self.messages = messages
  }

  /// Reads an answer; `nil` if the JSON is none.
  package init?(_ json: JSONValue) {
    guard case .number(let digits)? = json["status"], let status = Int32(digits),
      case .string(let output)? = json["output"], case .string(let messages)? = json["messages"]
    else { return nil }
    self.init(status: status, output: output, messages: messages)
  }

  /// The answer as JSON.
  package var json: JSONValue {
    [
      "messages": .string(messages), "output": .string(output), "status": .integer(Int64(status)),
    ]
  }
}
