internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// `dlstore config`: shows the effective settings and where they come from.
struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Shows the effective settings and where each value comes from.",
    discussion: """
      A setting is an option that can also be given by an environment variable or by the \
      configuration file. Options override the environment, and the environment overrides the \
      file. The variable for --max-concurrent is DLSTORE_MAX_CONCURRENT. The file is a JSON object \
      such as {"max-concurrent": 3, "limit-rate": "2M"}; it is read from --config, else \
      $DLSTORE_CONFIG (empty: no file), else dlstore/config.json in $XDG_CONFIG_HOME or ~/.config. \
      The command takes every setting as an option, too, to preview its effect. Secrets \
      in URLs and proxies are shown as \(Redaction.mark).

      EXAMPLES:
        dlstore config
        dlstore config --config laptop.json --json
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var limits: EngineLimits
  @OptionGroup var place: RunFolder
  @OptionGroup var hooks: HookOptions
  @OptionGroup var identity: ClientIdentity

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Show secrets unredacted.")
  var revealSecrets = false

  func run() throws {
    let configuration = Configuration.current
    let environment = ProcessInfo.processInfo.environment
    if let server = environment[RemoteServer.variable], !server.isEmpty {
      Output.current.say(
        "without --store, commands about downloads use \(RemoteServer.variable), "
          + "\(Redaction.argument(server)), and its settings"
      )
    }
    if json {
      try Output.current.line(self.json(of: configuration).prettyText)
    } else {
      try Output.current.line(text(of: configuration).joined(separator: "\n"))
    }
  }

  /// The values, with the limits that other settings raise.
  private func values(of configuration: Configuration) -> [Configuration.Value] {
    let concurrency = limits.concurrency
    let used = [
      "max-concurrent": concurrency.maximumRunning, "per-host": concurrency.maximumPerHost,
    ]
    return configuration.values.map { value in
      guard value.source == .standard, let limit = used[value.setting.name] else { return value }
      var value = value
      value.texts = ["\(limit)"]
      return value
    }
  }

  private func json(of configuration: Configuration) -> JSONValue {
    let settings: [JSONValue] = values(of: configuration).map { value in
      let texts = value.texts.map { JSONValue.string(shown($0, of: value.setting)) }
      let json: JSONValue =
        switch value.setting.option {
        case let option where option.kind == .flag: .bool(value.texts == ["true"])
        case let option where option.isRepeating: .array(texts)
        default: texts.first ?? .null
        }
      return [
        "name": .string(value.setting.name), "value": json,
        "source": .string(value.source.word), "variable": .string(value.setting.variable),
      ]
    }
    return ["file": JSONValue(configuration.file?.path), "settings": .array(settings)]
  }

  private func text(of configuration: Configuration) -> [String] {
    var table = TableOutput(columns: [
      .init(title: "SETTING"), .init(title: "VALUE"), .init(title: "SOURCE"),
    ])
    table.rows = values(of: configuration).map { value in
      let text = value.texts.map { shown($0, of: value.setting) }.joined(separator: " ")
      return [value.setting.name, text.isEmpty ? "-" : text, value.source.text]
    }
    return table.lines(width: Terminal.output.width)
  }

  /// The text of a value without secrets.
  ///
  /// A proxy needs no scheme, and may be malformed: it is not parsed before it is used.
  private func shown(_ text: String, of setting: Setting) -> String {
    if revealSecrets { return text }
    if setting.name == "webhook" { return Redaction.webhook(text) }
    if setting.option.valueName == "url" || text.contains("://") { return Redaction.argument(text) }
    return text
  }
}

extension Configuration.Source {
  /// The source in JSON.
  var word: String {
    switch self {
    case .option: "flag"
    case .environment: "environment"
    case .file: "file"
    case .standard: "default"
    }
  }

  /// The source in a table.
  var text: String {
    switch self {
    case .option, .standard: word
    case .environment(let variable): "environment \(variable)"
    case .file(let path): "file \(path)"
    }
  }
}
