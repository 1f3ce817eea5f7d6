/// The version of the tool.
enum Version {
  /// The number of this release.
  ///
  /// `.packaging/version` reads it from this line.
  static let number = "0.1.0"

  /// The output of `--version`: the number, and the transports that are built in.
  static var text: String {
    let names = TransportChoice.available.map { choice in
      choice == .standard ? "\(choice.rawValue) (default)" : choice.rawValue
    }
    return "dlstore \(number)\ntransports: \(names.joined(separator: ", "))"
  }
}
