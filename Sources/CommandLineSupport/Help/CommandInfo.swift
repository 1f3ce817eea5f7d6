package import ArgumentParser
internal import Foundation
internal import SystemInterface

/// A command and its arguments, as the parser describes them.
///
/// The settings, the manual pages and the suggestions are made from this description, so that the
/// declaration of an option is their only source.
package struct CommandInfo: Decodable, Sendable, Hashable {
  package var commandName: String
  /// The names of the commands above this one.
  package var superCommands: [String]?
  package var shouldDisplay: Bool
  package var abstract: String?
  package var discussion: String?
  package var subcommands: [CommandInfo]?
  package var arguments: [ArgumentInfo]?

  private enum CodingKeys: CodingKey {
    case commandName, superCommands, shouldDisplay, abstract, discussion, subcommands, arguments
  }

  private struct Description: Decodable {
    var command: CommandInfo
  }

  /// The descriptions that were made; a description never changes.
  private static let made = Mutex<[ObjectIdentifier: Self]>([:])

  /// Describes a command with its subcommands, or a group of options.
  ///
  /// The parser offers the description as JSON only. A command takes about a millisecond, at the first
  /// call.
  package init(of type: any ParsableArguments.Type) {
    let key = ObjectIdentifier(type)
    if let made = Self.made.withLock({ $0[key] }) {
      self = made
      return
    }
    do {
      let json = Data(type._dumpHelp().utf8)
      self = try JSONDecoder().decode(Description.self, from: json).command.joiningInvertedFlags()
    } catch {
      preconditionFailure("the parser's description of \(type) cannot be decoded: \(error)")
    }
    let made = self
    Self.made.withLock { $0[key] = made }
  }

  /// Joins each flag `--no-x` to the flag `--x`; the parser describes them as two arguments.
  private func joiningInvertedFlags() -> CommandInfo {
    var joined = self
    joined.subcommands = subcommands?.map { $0.joiningInvertedFlags() }
    let flags = (arguments ?? []).filter { $0.kind == .flag }
    for flag in flags {
      guard let name = flag.preferredName?.name,
        let inverted = flags.first(where: { $0.preferredName?.name == "no-\(name)" }),
        let index = joined.arguments?.firstIndex(of: flag)
      else { continue }
      joined.arguments?[index].names = (flag.names ?? []) + (inverted.names ?? [])
      joined.arguments?.removeAll { $0 == inverted }
    }
    return joined
  }

  /// The name with the names of the commands above: `dlstore list`.
  package var fullName: String { ((superCommands ?? []) + [commandName]).joined(separator: " ") }

  /// This command and all commands below it that are not hidden, but for the parser's `help`.
  package var visibleCommands: [CommandInfo] {
    let visible = (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    return [self] + visible.flatMap(\.visibleCommands)
  }

  /// The arguments that help shows, in their order.
  package var visibleArguments: [ArgumentInfo] { (arguments ?? []).filter(\.shouldDisplay) }
}

/// An argument of a command, as the parser describes it.
package struct ArgumentInfo: Decodable, Sendable, Hashable {
  package enum Kind: String, Decodable {
    case positional, option, flag
  }

  package struct Name: Decodable, Hashable {
    package enum Kind: String, Decodable {
      case long, short, longWithSingleDash
    }

    package var kind: Kind
    package var name: String

    /// The name with its dashes.
    package var spelling: String { kind == .long ? "--\(name)" : "-\(name)" }
  }

  package var kind: Kind
  package var shouldDisplay: Bool
  package var isOptional: Bool
  package var isRepeating: Bool
  package var names: [Name]?
  package var preferredName: Name?
  package var valueName: String?
  package var defaultValue: String?
  /// The values of an enumeration.
  package var allValues: [String]?
  package var abstract: String?
  package var discussion: String?

  /// All names with their dashes.
  package var spellings: [String] { (names ?? []).map(\.spelling) }

  /// Whether the parser adds the argument to each command.
  package var isBuiltIn: Bool { preferredName?.name == "help" || preferredName?.name == "version" }
}
