internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// A value that an option, an environment variable or the configuration file sets.
///
/// The option is its declaration: every option of ``groups`` is a setting, with the name, the type,
/// the validation and the help of that option.
struct Setting: Sendable, Hashable {
  /// The groups of options that are settings.
  static let groups: [any ParsableArguments.Type] = [
    StoreLocation.self, EngineLimits.self, RunFolder.self, HookOptions.self, ClientIdentity.self,
  ]

  /// All settings, in the order of their declaration.
  static let all = groups.indices.reduce(into: [Setting]()) { all, group in
    let settings = (CommandInfo(of: groups[group]).arguments ?? [])
      .compactMap { Setting($0, group: group) }
    // Groups may contain the same group.
    all += settings.filter { setting in !all.contains { $0.option == setting.option } }
  }

  /// The start of the name of each environment variable.
  static let variablePrefix = "DLSTORE_"
  /// The option that names the configuration file itself.
  static let fileOption = "config"
  /// The environment variable that names the configuration file.
  static let fileVariable = "DLSTORE_CONFIG"

  /// The name of the option without dashes, which is the key in the configuration file.
  let name: String
  /// The option, as the parser describes it.
  let option: ArgumentInfo
  /// The index in ``groups``.
  let group: Int

  private init?(_ option: ArgumentInfo, group: Int) {
    guard let name = option.names?.first(where: { $0.kind == .long })?.name,
      !option.isBuiltIn, name != Self.fileOption
    else { return nil }
    self.name = name
    self.option = option
    self.group = group
  }

  /// The environment variable: `DLSTORE_MAX_CONCURRENT` for `max-concurrent`.
  var variable: String { Self.variablePrefix + name.uppercased().replacing("-", with: "_") }

  /// A description of a valid value, for messages: `<n>: The maximum number of …`.
  var expectation: String {
    let help = option.abstract ?? ""
    return option.kind == .flag ? "true or false: \(help)" : "<\(option.valueName ?? "")>: \(help)"
  }

  /// The value without an option, a variable or a file; empty if there is none.
  var defaultTexts: [String] {
    if name == "store" {
      let path = StoreLocation.usualPath(ProcessInfo.processInfo.environment)
      return [Folder.absolutePath(path)]
    }
    if option.kind == .flag { return [option.defaultValue.map(isOn) ?? false ? "true" : "false"] }
    return (option.defaultValue ?? EngineLimits.transformedDefaults[name]).map { [$0] } ?? []
  }

  /// The words that set the texts on a command line.
  func words(_ texts: [String]) -> [String] {
    guard option.kind == .flag else { return texts.map { "--\(name)=\($0)" } }
    if texts == ["true"] { return ["--\(name)"] }
    return option.spellings.contains(offSpelling) ? [offSpelling] : []
  }

  /// The texts that a command line sets; `nil` if it does not.
  func texts(in given: [String: [String]]) -> [String]? { option.texts(in: given, named: name) }

  /// Whether an option of the command line takes the place of the setting, because it contradicts it.
  ///
  /// The parser refuses both, but only a user who gave both as options has contradicted himself.
  ///
  /// - Parameters:
  ///   - scan: The command line.
  ///   - texts: The value of the setting.
  /// - Returns: Whether the setting does not apply.
  func yields(to scan: CommandLineScan, _ texts: [String]) -> Bool {
    Self.contradictions.contains { contradiction in
      guard contradiction.setting == name,
        let option = scan.arguments.first(where: {
          $0.spellings.contains("--\(contradiction.option)")
        }),
        let given = option.texts(in: scan.given, named: contradiction.option)
      else { return false }
      return contradiction.applies(texts, given)
    }
  }

  /// A setting, an option of another name, and whether the option's value contradicts the setting's.
  private typealias Contradiction = (
    setting: String, option: String, applies: @Sendable (_ own: [String], _ given: [String]) -> Bool
  )

  private static let contradictions: [Contradiction] = [
    ("user-agent", "header", { hasField("user-agent", $1) }),
    ("cookie-file", "header", { hasField("cookie", $1) }),
    ("netrc", "header", { hasField("authorization", $1) }),
    ("netrc-file", "header", { hasField("authorization", $1) }),
    ("netrc", "netrc-file", { _, _ in true }),
    ("netrc-file", "netrc", { _, _ in true }),
    ("ipv4", "ipv6", { $1 == ["true"] }),
    ("ipv6", "ipv4", { $1 == ["true"] }),
    ("ipv4", "interface", { isOther(.ipv4, than: $1) }),
    ("ipv6", "interface", { isOther(.ipv6, than: $1) }),
    ("interface", "ipv4", { $1 == ["true"] && isOther(.ipv4, than: $0) }),
    ("interface", "ipv6", { $1 == ["true"] && isOther(.ipv6, than: $0) }),
    // The key of another certificate.
    ("client-key", "client-certificate", { _, _ in true }),
  ]

  /// Whether one of some header fields has a name.
  private static func hasField(_ name: String, _ fields: [String]) -> Bool {
    fields.contains { $0.prefix { $0 != ":" }.lowercased() == name }
  }

  /// Whether an address is valid, and of another family.
  private static func isOther(_ family: AddressFamily, than address: [String]) -> Bool {
    address.last.flatMap(AddressFamily.init(ofAddress:)).map { $0 != family } ?? false
  }

  private var offSpelling: String { "--no-\(name)" }

  /// Whether the parser's description of a flag's default means true.
  private func isOn(_ text: String) -> Bool { text == "true" || text == "--\(name)" }
}

extension ArgumentInfo {
  /// The texts that a command line sets, in any spelling of the option; `nil` if it does not.
  ///
  /// - Parameters:
  ///   - given: The values of each option on the command line, by its spelling.
  ///   - name: The long name of the option.
  /// - Returns: The texts.
  fileprivate func texts(in given: [String: [String]], named name: String) -> [String]? {
    if kind == .flag, given["--no-\(name)"] != nil { return ["false"] }
    let values = spellings.compactMap { given[$0] }
    guard !values.isEmpty else { return nil }
    guard kind != .flag else { return ["true"] }
    let texts = values.flatMap { $0 }
    return isRepeating ? texts : texts.suffix(1)
  }
}

// MARK: Values of variables and files

extension Setting {
  /// A value of the wrong type.
  struct TypeError: Error {
    /// What was expected: `a list of texts`.
    var expected: String
  }

  /// Reads the value of an environment variable.
  ///
  /// A repeatable option has one value per line.
  func texts(ofVariable text: String) throws(TypeError) -> [String] {
    if option.kind == .flag {
      switch text.lowercased() {
      case "true", "1", "yes", "on": return ["true"]
      case "false", "0", "no", "off": return ["false"]
      default: throw TypeError(expected: "true or false")
      }
    }
    guard option.isRepeating else { return [text] }
    return text.split(separator: "\n").map(String.init)
  }

  /// The value of the environment variable for the texts.
  func variableValue(_ texts: [String]) -> String { texts.joined(separator: "\n") }

  /// Reads a value of the configuration file; `nil` for `null`, which sets nothing.
  func texts(of value: JSONValue) throws(TypeError) -> [String]? {
    if value == .null { return nil }
    if option.kind == .flag {
      guard case .bool(let isOn) = value else { throw TypeError(expected: "true or false") }
      return [isOn ? "true" : "false"]
    }
    if option.isRepeating, case .array(let elements) = value {
      var texts: [String] = []
      for element in elements {
        guard let text = Self.text(of: element) else {
          throw TypeError(expected: "a list of texts without line breaks")
        }
        texts.append(text)
      }
      return texts
    }
    guard let text = Self.text(of: value) else {
      throw TypeError(
        expected: option.isRepeating ? "a text or a list of texts" : "a text or a number"
      )
    }
    return [text]
  }

  private static func text(of value: JSONValue) -> String? {
    switch value {
    case .string(let text):
      // The value must fit in an environment variable, in which a worker process receives it.
      text.utf8.contains { $0 == 0 || $0 == 0x0A } ? nil : text
    case .number(let digits): digits
    default: nil
    }
  }
}
