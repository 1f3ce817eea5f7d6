package import ArgumentParser
internal import ProgramOutput

/// A duration on the command line: `45s`, `1d12h`, `500ms`, or a number of seconds such as `45` or
/// `1.5`.
package struct SpanArgument: ExpressibleByArgument, Sendable, Hashable, CustomStringConvertible {
  package let duration: Duration

  /// Creates the argument for an option's default.
  package init(_ duration: Duration) {
    self.duration = duration
  }

  /// Parses at most a year; `nil` for anything else.
  package init?(argument: String) {
    let limit: Int64 = 365 * 86_400
    if argument.hasSuffix("ms") {
      guard let count = Digits.number(argument.dropLast(2)), count <= limit * 1000 else {
        return nil
      }
      duration = .milliseconds(count)
    } else if let (count, divisor) = Digits.decimal(
      argument.hasSuffix("s") ? argument.dropLast() : argument[...]
    ) {
      guard count / divisor <= limit else { return nil }
      duration = .milliseconds(Int64(Int128(count) * 1000 / Int128(divisor)))
    } else {
      guard let seconds = TimeSpan.parse(argument), seconds <= limit else { return nil }
      duration = .seconds(seconds)
    }
  }

  package var description: String {
    let (seconds, parts) = duration.components
    let milliseconds = parts / 1_000_000_000_000_000
    return milliseconds == 0 ? "\(seconds)s" : "\(seconds * 1000 + milliseconds)ms"
  }
  package var defaultValueDescription: String { description }

  /// Refuses a duration of less than a millisecond.
  ///
  /// - Throws: `ValidationError`.
  package func validate(_ option: String) throws(ValidationError) {
    guard duration >= .milliseconds(1) else {
      throw ValidationError("\(option) must be at least 1ms.")
    }
  }
}
