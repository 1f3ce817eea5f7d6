import ArgumentParser
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The settings of a command line: options, environment and configuration file.
struct ConfigurationTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Reads the configuration with a file of this content.
  private func configuration(
    _ arguments: [String],
    file: String? = nil,
    environment: [String: String] = [:]
  ) throws -> Configuration {
    var environment = environment
    environment["DLSTORE_CONFIG"] = try file.map { try folder.makeFile("config.json", $0) } ?? ""
    return try Configuration(arguments, environment: environment)
  }

  private func value(_ name: String, _ configuration: Configuration) throws -> Configuration.Value {
    try #require(configuration.values.first { $0.setting.name == name })
  }

  private func failure(_ body: () throws -> Configuration) throws -> CommandFailure {
    let error = #expect(throws: CommandFailure.self) { try body() }
    return try #require(error)
  }

  @Test func `the options are not described for variables that set nothing`() throws {
    let environment = ["DLSTORE_CONFIG": "", "DLSTORE_PER_HOST": "", "DLSTORE_WORKER": "7"]
    let configuration = try Configuration(["run"], environment: environment)
    #expect(configuration.values.isEmpty && configuration.arguments == ["run"])
  }

  @Test func `an option overrides the environment, which overrides the file`() throws {
    let file = #"{"max-concurrent": 1, "per-host": 2, "max-attempts": 3}"#
    let environment = ["DLSTORE_PER_HOST": "20", "DLSTORE_MAX_ATTEMPTS": "30"]
    let configuration = try configuration(
      ["run", "--max-attempts", "300"],
      file: file,
      environment: environment
    )
    let command = try #require(
      try DLStoreCommand.parseAsRoot(configuration.arguments) as? RunCommand
    )
    #expect(command.limits.maxConcurrent == 1)
    #expect(command.limits.perHost == 20)
    #expect(command.limits.maxAttempts == 300)
    #expect(command.limits.limitRate == nil)
    let path = folder.path("config.json")
    #expect(try value("max-concurrent", configuration).source == .file(path))
    #expect(try value("per-host", configuration).source == .environment("DLSTORE_PER_HOST"))
    #expect(try value("max-attempts", configuration).source == .option)
    #expect(try value("limit-rate", configuration).source == .standard)
  }

  @Test(arguments: [
    ("-j 8", #"{"per-host": 2}"#, "", 2), ("-j 8", "{}", "DLSTORE_PER_HOST=5", 5),
    ("--per-host 3", #"{"max-concurrent": 8}"#, "", 3),
    ("", #"{"max-concurrent": 8, "per-host": 4, "connections": 9}"#, "", 4),
    ("", #"{"max-concurrent": 8}"#, "", 8), ("-j 9", #"{"max-concurrent": 2}"#, "", 9),
    ("", "{}", "DLSTORE_MAX_CONCURRENT=7", 7), ("-j 2", "{}", "", 4),
  ])
  func `other limits raise the one per host only if it is given nowhere`(
    options: String,
    file: String,
    variable: String,
    expected: Int
  ) throws {
    let parts = variable.split(separator: "=").map(String.init)
    let configuration = try configuration(
      ["run"] + options.split(separator: " ").map(String.init),
      file: file,
      environment: parts.isEmpty ? [:] : [parts[0]: parts[1]]
    )
    let command = try #require(
      try DLStoreCommand.parseAsRoot(configuration.arguments) as? RunCommand
    )
    #expect(command.limits.concurrency.maximumPerHost == expected)
  }

  @Test func `durations have their defaults`() throws {
    let configuration = try configuration(["config"])
    #expect(try value("timeout", configuration).texts == ["60s"])
    #expect(try value("retry-wait", configuration).texts == ["1s"])
  }

  @Test func `every setting reads its value from the environment and from the file`() throws {
    for setting in Setting.all {
      let text = setting.option.kind == .flag ? "true" : setting.defaultTexts.first ?? "1"
      let json = setting.option.kind == .flag ? "true" : "\"\(text)\""
      let inFile = try Setting.text(setting.name, json, folder)
      #expect(
        inFile == [text],
        "\(setting.name): extend this test with a valid value if '\(text)' is not one"
      )
      #expect(try setting.texts(ofVariable: text) == [text])
    }
  }

  @Test func `an option takes the place of a setting that it contradicts`() throws {
    let get = ["get", "http://h/x", "--header"]
    let file = #"{"user-agent": "a", "netrc": true, "cookie-file": "/c"}"#
    let path = try folder.makeFile("settings.json", file)
    let added = { (arguments: [String]) in
      let all = try Configuration(arguments + ["--config", path], environment: [:]).arguments
      return Set(all).intersection(["--user-agent=a", "--netrc", "--cookie-file=/c"])
    }
    #expect(try added(["get", "http://h/x"]) == ["--user-agent=a", "--netrc", "--cookie-file=/c"])
    #expect(try added(get + ["USER-AGENT: b"]) == ["--netrc", "--cookie-file=/c"])
    let authorized = Set(["--user-agent=a", "--cookie-file=/c"])
    #expect(try added(get + ["Authorization: b"]) == authorized)
    #expect(try added(["get", "http://h/x", "-H", "Authorization: b"]) == authorized)
    #expect(try added(get + ["cookie: b"]) == ["--user-agent=a", "--netrc"])
    let other = ["get", "http://h/x", "--netrc-file", "n"]
    #expect(try added(other) == ["--user-agent=a", "--cookie-file=/c"])
    #expect(try added(["get", "http://h/x", "--no-netrc"]).count == 2)
    #expect(try added(["list"]).isEmpty)
  }

  @Test(arguments: [
    ("netrc", "true", ["-H", "Authorization: b"], true),
    ("netrc-file", "/n", ["-H", "authorization: b"], true),
    ("netrc-file", "/n", ["-H", "cookie: b"], false),
    ("user-agent", "a", ["-HUser-Agent: b"], true),
    ("cookie-file", "/c", ["-H", "X: 1", "--header", "Cookie: b"], true),
    ("cookie-file", "/c", ["-H", "X: 1"], false), ("ipv4", "true", ["-6"], true),
    ("ipv4", "true", ["--ipv6"], true), ("ipv4", "true", ["--no-ipv6"], false),
    ("ipv6", "true", ["-4"], true), ("ipv4", "true", ["--interface", "::1"], true),
    ("ipv4", "true", ["--interface", "127.0.0.1"], false), ("interface", "::1", ["-4"], true),
    ("interface", "::1", ["-6"], false), ("interface", "127.0.0.1", ["-6"], true),
    ("client-key", "/a.key", ["--client-certificate", "/b.pem"], true),
    ("client-certificate", "/a.pem", ["--client-key", "/b.key"], false),
  ])
  func `an option takes the place of a setting of another name in any spelling`(
    name: String,
    text: String,
    options: [String],
    yields: Bool
  ) throws {
    let setting = try #require(Setting.all.first { $0.name == name })
    let words = ["get", "http://h/x"] + options
    let scan = DLStoreCommand.scan(DLStoreCommand.scan(words).separatingValues(in: words))
    #expect(setting.yields(to: scan, [text]) == yields)
  }

  @Test func `the folder of run is a setting, and get keeps to the current folder`() throws {
    let environment = ["DLSTORE_OUTPUT_FOLDER": "/srv"]
    let run = try Configuration(["run"], environment: environment)
    #expect(run.arguments == ["run", "--output-folder=/srv"])
    let get = try Configuration(["get", "http://h/x"], environment: environment)
    #expect(get.arguments == ["get", "http://h/x"])
  }

  @Test func `a command receives only the settings that it accepts`() throws {
    let environment = ["DLSTORE_MAX_CONCURRENT": "2", "DLSTORE_STORE": "/s"]
    let arguments = ["list", "--limit", "1"]
    #expect(
      try configuration(arguments, environment: environment).arguments
        == ["list", "--store=/s", "--limit", "1"]
    )
  }

  @Test func `settings are added after the command and before its arguments`() throws {
    let environment = ["DLSTORE_MAX_CONCURRENT": "2"]
    let arguments = ["--store", "run", "get", "--", "-o"]
    #expect(
      try configuration(arguments, environment: environment).arguments
        == ["--store", "run", "get", "--max-concurrent=2", "--", "-o"]
    )
  }

  @Test(arguments: [
    ([], "true", true), (["--no-continue-unvalidated"], "true", false),
    (["--continue-unvalidated"], "false", true), ([], "false", false),
  ])
  func `a flag in the file can be turned off by an option`(
    options: [String],
    json: String,
    isOn: Bool
  ) throws {
    let file = "{\"continue-unvalidated\": \(json)}"
    let configuration = try configuration(["run"] + options, file: file)
    let command = try DLStoreCommand.parseAsRoot(configuration.arguments) as? RunCommand
    #expect(command?.limits.continueUnvalidated == isOn)
  }

  @Test func `an empty variable and null set nothing`() throws {
    let configuration = try configuration(
      ["run"],
      file: #"{"max-concurrent": null}"#,
      environment: ["DLSTORE_PER_HOST": ""]
    )
    #expect(configuration.arguments == ["run"])
  }

  @Test(arguments: [
    (#"{"max-concurrent": 3,}"#, ":1:22: expected a member name"),
    ("{\n  \"per-host\": }", ":2:15: expected a value"),
    ("[]", ": the file must contain one JSON object"),
    (#"{"per-host": 1, "per-host": 2}"#, "duplicate member name"),
    (#"{"max-concurent": 3}"#, "no setting 'max-concurent'. Did you mean 'max-concurrent'?"),
    (#"{"zzz": 3}"#, "no setting 'zzz'. 'dlstore config' lists the settings"),
    ("", ": the file is empty: {} is a file without settings"),
    (#"{"max-concurrent": true}"#, ": max-concurrent: expected a text or a number"),
    (#"{"max-concurrent": [1]}"#, ": max-concurrent: expected a text or a number"),
    (#"{"continue-unvalidated": "yes"}"#, ": continue-unvalidated: expected true or false"),
    (
      #"{"max-concurrent": "many"}"#,
      "Expected <n>: The maximum number of concurrent downloads, from 1; by default 4"
    ),
    (#"{"max-concurrent": 0}"#, ": max-concurrent: '0' is not a whole number of at least 1."),
    (#"{"limit-rate": "fast"}"#, ": limit-rate: "),
    (#"{"store": "a\nb"}"#, ": store: expected"),
  ])
  func `an error in the file names the file, the key and what is expected`(
    file: String,
    message: String
  ) throws {
    let failure = try failure { try configuration(["run"], file: file) }
    #expect(failure.status == .usage)
    #expect(failure.message?.contains(message) == true, "\(failure.message ?? "")")
    #expect(failure.message?.hasPrefix(folder.path("config.json")) == true)
  }

  @Test(arguments: [
    ("DLSTORE_MAX_CONCURRENT", "0"), ("DLSTORE_CONTINUE_UNVALIDATED", "maybe"),
    ("DLSTORE_TRANSPORT", "pigeon"),
  ])
  func `an error in a variable names the variable`(variable: String, text: String) throws {
    let failure = try failure { try configuration(["list"], environment: [variable: text]) }
    #expect(failure.status == .usage)
    #expect(failure.message?.hasPrefix("\(variable): ") == true, "\(failure.message ?? "")")
  }

  @Test func `a file that is asked for must exist, the usual one need not`() throws {
    let missing = folder.path("missing.json")
    let failure = try failure {
      try Configuration(["list", "--config", missing], environment: [:])
    }
    #expect(failure.status == .notFound)
    #expect(failure.message?.contains(missing) == true)
    let usual = try Configuration(["list"], environment: ["XDG_CONFIG_HOME": folder.path("x")])
    #expect(usual.file == nil)
  }

  @Test func `the file is in the user's configuration folder`() throws {
    #expect(
      ConfigurationFile.usualPath(["XDG_CONFIG_HOME": "/x", "HOME": "/h"])
        == "/x/dlstore/config.json"
    )
    #expect(
      ConfigurationFile.usualPath(["XDG_CONFIG_HOME": "x", "HOME": "/h"])
        == "/h/.config/dlstore/config.json"
    )
    #expect(ConfigurationFile.usualPath([:]) == nil)
  }

  @Test(arguments: [
    ["--help"], ["help", "run"], ["run", "-h"], ["--version"], ["---completion", "list"],
    ["--generate-completion-script", "bash"],
  ])
  func `help works with an invalid file`(arguments: [String]) throws {
    #expect(try configuration(arguments, file: "{").arguments == arguments)
  }

  @Test func `a worker receives the settings of the file in its environment`() throws {
    let supervisor = try configuration(
      ["run", "--per-host", "9"],
      file: #"{"max-concurrent": 7, "per-host": 2, "continue-unvalidated": true}"#,
      environment: ["DLSTORE_MAX_ATTEMPTS": "5"]
    )
    #expect(
      supervisor.workerEnvironment
        == ["DLSTORE_MAX_CONCURRENT": "7", "DLSTORE_CONTINUE_UNVALIDATED": "true"]
    )
    let worker = try Configuration(
      ["run", "--per-host", "9"],
      environment: supervisor.workerEnvironment.merging(["DLSTORE_MAX_ATTEMPTS": "5"]) { $1 },
      readsFile: false
    )
    #expect(worker.values.map(\.texts) == supervisor.values.map(\.texts))
  }

  @Test func `no setting's variable has another meaning`() {
    let variables = Setting.all.map(\.variable)
    let taken = [
      Setting.fileVariable, Worker.Variable.supervisor, Worker.Variable.previousExit,
    ]
    #expect(Set(variables).count == variables.count)
    #expect(Set(variables).isDisjoint(with: taken))
  }

  @Test func `the options before a command's name are those that the root command accepts`() {
    let root = CommandInfo(of: DLStoreCommand.self).arguments ?? []
    let scanned = DLStoreCommand.scan([]).arguments
    #expect(
      root.filter { !$0.isBuiltIn } == scanned.filter { !$0.isBuiltIn },
      "add the new group of options to DLStoreCommand.scan"
    )
  }

  @Test(arguments: Setting.all.filter { $0.option.kind == .flag && !$0.name.hasPrefix("no-") })
  func `each flag that a file turns on can be turned off by an option`(setting: Setting) {
    #expect(
      setting.option.spellings.contains("--no-\(setting.name)"),
      "declare --\(setting.name) with inversion: .prefixedNo, exclusivity: .chooseLast"
    )
  }

  @Test func `config takes every setting as an option`() {
    let options = CommandInfo(of: ConfigCommand.self).arguments ?? []
    for setting in Setting.all {
      #expect(
        options.contains(setting.option),
        "add the group of --\(setting.name) to ConfigCommand"
      )
    }
  }
}

extension Setting {
  /// Returns the texts of a setting in a file with this one member.
  static func text(_ name: String, _ json: String, _ folder: TemporaryFolder) throws -> [String]? {
    try ConfigurationFile(Array("{\"\(name)\": \(json)}".utf8), path: "/c").texts[name]
  }
}

/// `dlstore config`, and the configuration of the built tool.
struct ConfigCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(
    _ arguments: [String],
    _ environment: [String: String]
  ) async throws -> (status: Int32, output: String, messages: String) {
    let process = try DLStoreProcess(
      arguments,
      store: folder.path("store"),
      in: folder.path,
      environment: environment
    )
    return (try await process.status(), process.output, process.messages)
  }

  @Test func `config shows each value and its source`() async throws {
    let file = try folder.makeFile("c.json", #"{"max-attempts": 2, "limit-rate": "2M"}"#)
    let environment = ["DLSTORE_CONFIG": file, "DLSTORE_MAX_ATTEMPTS": "3"]
    let json = try await run(["config", "--json", "--per-host", "9"], environment)
    #expect(json.status == 0, "\(json.messages)")
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    )
    #expect(object["file"] as? String == file)
    let settings = try #require(object["settings"] as? [[String: Any]])
    func setting(_ name: String) -> [String] {
      let found = settings.first { $0["name"] as? String == name } ?? [:]
      return ["value", "source", "variable"].map { found[$0].map { "\($0)" } ?? "missing" }
    }
    #expect(setting("max-attempts") == ["3", "environment", "DLSTORE_MAX_ATTEMPTS"])
    #expect(setting("limit-rate") == ["2M", "file", "DLSTORE_LIMIT_RATE"])
    #expect(setting("per-host") == ["9", "flag", "DLSTORE_PER_HOST"])
    #expect(setting("max-concurrent") == ["4", "default", "DLSTORE_MAX_CONCURRENT"])
    #expect(setting("store").dropLast() == [folder.path("store"), "environment"])
    let raised = try await run(["config", "-j", "8"], ["DLSTORE_CONNECTIONS": "6"])
    let rows = raised.output.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(rows.contains(["per-host", "8", "default"]), "\(raised.output)")
    let table = try await run(["config"], environment)
    let lines = table.output.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(lines.contains(["limit-rate", "2M", "file", file[...]]), "\(table.output)")
    #expect(table.output.contains("environment DLSTORE_MAX_ATTEMPTS"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("store")))
  }

  @Test(arguments: ["u:hunter2@h:1", "http://u:hunter2@h:1", "u:p@ter2@h"])
  func `config shows no credentials of a proxy`(proxy: String) async throws {
    for options in [[], ["--json"]] {
      let shown = try await run(["config"] + options, ["DLSTORE_PROXY": proxy])
      #expect(shown.status == 0 && shown.output.contains("•••@h"), "\(shown.messages)")
      #expect(!shown.output.contains("ter2"))
      let all = ["config", "--reveal-secrets"] + options
      let revealed = try await run(all, ["DLSTORE_PROXY": proxy])
      #expect(revealed.output.replacing("\\/", with: "/").contains(proxy))
    }
  }

  @Test func `config shows no path of a webhook`() async throws {
    let url = "https://hooks.example/services/T0/9zq1kX8vQw3LrT5mN2bC7dYp"
    let shown = try await run(["config"], ["DLSTORE_WEBHOOK": url])
    #expect(shown.status == 0 && shown.output.contains("https://hooks.example/…"))
    #expect(!shown.output.contains("9zq"))
    let revealed = try await run(["config", "--reveal-secrets"], ["DLSTORE_WEBHOOK": url])
    #expect(revealed.output.contains(url))
  }

  @Test func `the store may be set in the file`() async throws {
    let file = try folder.makeFile("c.json", "{\"store\": \"\(folder.path("other"))\"}")
    let added = try await run(["add", "http://a/1", "--config", file], ["DLSTORE_STORE": ""])
    #expect(added.status == 0, "\(added.messages)")
    #expect(FileManager.default.fileExists(atPath: folder.path("other/data.mdb")))
  }

  @Test func `an invalid file is a usage error of the tool`() async throws {
    let file = try folder.makeFile("c.json", #"{"stor": "x"}"#)
    let result = try await run(["list"], ["DLSTORE_CONFIG": file])
    #expect(result.status == 64)
    #expect(
      result.messages == "dlstore: \(file): there is no setting 'stor'. Did you mean 'store'?\n"
    )
  }

  #if os(Linux)
    @Test func `a worker process runs with the settings of the file`() async throws {
      let file = try folder.makeFile("c.json", #"{"max-attempts": 1}"#)
      // Nothing listens on port 1. With one attempt the download fails at once.
      let result = try await run(
        ["get", "http://127.0.0.1:1/x", "--config", file],
        ["DLSTORE_STORE": folder.path("store")]
      )
      #expect(result.status == 69, "\(result.messages)")
      let store = try RecordStore(at: folder.path("store"), access: .readOnly)
      #expect(try store.record(matching: "http://127.0.0.1:1/x").failedAttempts == 1)
    }
  #endif

  @Test func `config shows the defaults of limits as a user writes them`() async throws {
    // Without that of the harness.
    let result = try await run(["config", "--json"], ["DLSTORE_LOWEST_SPEED_TIME": ""])
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let settings = try #require(json?["settings"] as? [[String: Any]])
    let expected = [
      "min-split": "2M", "preallocate": "none", "lowest-speed": "1K", "lowest-speed-time": "30s",
    ]
    for (name, text) in expected {
      let setting = settings.first { $0["name"] as? String == name }
      #expect(setting?["value"] as? String == text, "\(name)")
    }
    #expect(ByteAmountSetting(byteCount: 0).description == "0")
    #expect(ByteAmountSetting(byteCount: 1_025).description == "1025")
    #expect(ByteAmountSetting(byteCount: 3 << 30).description == "3G")
  }
}
