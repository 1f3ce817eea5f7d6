internal import CommandLineSupport

extension Version {
  /// The output of `--version`: the number, and the transports that are built in.
  static var text: String {
    let names = TransportChoice.available.map { choice in
      choice == .standard ? "\(choice.rawValue) (default)" : choice.rawValue
    }
    return "dlstore \(number)\ntransports: \(names.joined(separator: ", "))"
  }
}
