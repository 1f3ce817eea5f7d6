internal import ArgumentParser
internal import CommandLineSupport

/// The settings of a command: from its options, the environment and the configuration file.
///
/// Options override the environment, and the environment overrides the file. Settings that are not
/// given as options are added to the command line, so that each has one declaration, one parser and
/// one validation: those of its option.
struct Configuration: Sendable {
  /// The place that a value comes from.
  enum Source: Sendable, Hashable {
    case option
    /// The name of the variable.
    case environment(String)
    /// The path of the configuration file.
    case file(String)
    case standard
  }

  /// A setting and its effective value.
  struct Value: Sendable, Hashable {
    var setting: Setting
    /// One text, or one per value of a repeatable option; empty if there is no value.
    var texts: [String]
    var source: Source
  }

  /// The configuration of the current command.
  @TaskLocal static var current = Configuration()

  /// The configuration file; `nil` if there is none.
  private(set) var file: ConfigurationFile?
  /// The effective value of each setting; empty if only options can have set any.
  private(set) var values: [Value] = []
  /// The command line with the settings that it leaves open.
  private(set) var arguments: [String] = []

  private init() {}

  /// Reads the configuration of a command line.
  ///
  /// - Parameters:
  ///   - arguments: The arguments without the program's name.
  ///   - environment: The environment of the process.
  ///   - readsFile: Whether to read the configuration file. A worker receives the settings of the
  ///     file in its environment, so that a change of the file cannot come between the two.
  /// - Throws: ``CommandFailure``: the file cannot be read, or a value is invalid.
  init(
    _ arguments: [String],
    environment: [String: String],
    readsFile: Bool = true
  ) throws {
    self.arguments = arguments
    guard !CommandLineScan.isRequest(arguments), Self.isPossible(arguments, environment) else {
      return
    }
    values = Setting.all.map { Value(setting: $0, texts: $0.defaultTexts, source: .standard) }
    let scan = DLStoreCommand.scan(arguments)
    if readsFile { file = try Self.file(scan, environment) }
    for index in values.indices {
      let setting = values[index].setting
      if let texts = setting.texts(in: scan.given) {
        values[index] = Value(setting: setting, texts: texts, source: .option)
      } else if let text = environment[setting.variable], !text.isEmpty {
        do {
          let texts = try setting.texts(ofVariable: text)
          let source = Source.environment(setting.variable)
          values[index] = Value(setting: setting, texts: texts, source: source)
        } catch {
          throw CommandFailure(.usage, "\(setting.variable): expected \(error.expected)")
        }
      } else if let file, let texts = file.texts[setting.name] {
        values[index] = Value(setting: setting, texts: texts, source: .file(file.path))
      }
    }
    for group in Setting.groups.indices { try validate(group) }
    let added =
      configured
      .filter {
        scan.arguments.contains($0.setting.option) && !$0.setting.yields(to: scan, $0.texts)
      }
      .flatMap { $0.setting.words($0.texts) }
    self.arguments.insert(contentsOf: added, at: scan.endOfName)
  }

  /// Whether the environment or a file may set a value, or the command shows all values.
  ///
  /// Otherwise the parser need not describe the options, which takes about 15 ms in a debug build.
  private static func isPossible(_ arguments: [String], _ environment: [String: String]) -> Bool {
    arguments.contains { $0.hasPrefix("--\(Setting.fileOption)") || $0 == "config" }
      || environment.contains { isSetting($0.key) && !$0.value.isEmpty }
      || environment[Setting.fileVariable] == nil
        && ConfigurationFile.usualPath(environment).map(ConfigurationFile.mayExist) ?? false
  }

  /// Whether a variable may set a value, and does not only mark the worker of a supervisor.
  private static func isSetting(_ variable: String) -> Bool {
    variable.hasPrefix(Setting.variablePrefix) && !variable.hasPrefix(Worker.Variable.supervisor)
      && variable != Worker.Variable.previousExit
  }

  private static func file(
    _ scan: CommandLineScan,
    _ environment: [String: String]
  ) throws -> ConfigurationFile? {
    if let path = scan.given["--\(Setting.fileOption)"]?.last {
      // The parser rejects an empty path.
      return path.isEmpty ? nil : try ConfigurationFile.read(path, isRequired: true)
    }
    if let path = environment[Setting.fileVariable] {
      return path.isEmpty ? nil : try ConfigurationFile.read(path, isRequired: true)
    }
    return try ConfigurationFile.usualPath(environment)
      .flatMap { try ConfigurationFile.read($0, isRequired: false) }
  }

  /// The values from the environment and the file.
  private var configured: [Value] {
    values.filter { $0.source != .option && $0.source != .standard }
  }

  /// The variables that give a worker process the settings of the file.
  var workerEnvironment: [String: String] {
    let fromFile = values.filter { if case .file = $0.source { true } else { false } }
    return Dictionary(
      uniqueKeysWithValues: fromFile.map {
        ($0.setting.variable, $0.setting.variableValue($0.texts))
      }
    )
  }

  /// Parses the values of a group as options.
  ///
  /// Options may depend on each other, so they are parsed together first. Then a value that is
  /// invalid by itself is the one to blame; otherwise the parser reports the combination.
  private func validate(_ group: Int) throws {
    let type = Setting.groups[group]
    let members = configured.filter { $0.setting.group == group }
    let given = values.filter { $0.setting.group == group && $0.source == .option }
    guard !members.isEmpty,
      Self.failure(type, (members + given).flatMap { $0.setting.words($0.texts) }) != nil
    else { return }
    for value in members {
      guard let message = Self.failure(type, value.setting.words(value.texts)) else { continue }
      let place =
        switch value.source {
        case .environment(let variable): variable
        case .file(let path): "\(path): \(value.setting.name)"
        case .option, .standard: value.setting.name
        }
      throw CommandFailure(
        .usage,
        "\(place): \(message) Expected \(value.setting.expectation)"
      )
    }
  }

  /// The parser's message if it rejects the words.
  private static func failure(_ type: any ParsableArguments.Type, _ words: [String]) -> String? {
    do {
      _ = try type.parse(words)
      return nil
    } catch {
      let message = CommandLineText.redacted(
        ParserMessage.plain(reason: type.message(for: error)),
        words
      )
      return message.hasSuffix(".") ? message : message + "."
    }
  }
}
