package import ArgumentParser

/// The whole numbers of options.
package enum WholeNumber {
  /// Parses a number of a type, within bounds.
  ///
  /// - Throws: `ValidationError` with the range.
  package static func parse<Number: FixedWidthInteger>(
    _ text: String,
    from least: Number = .min,
    to most: Number = .max
  ) throws(ValidationError) -> Number {
    guard let number = Number(text), number >= least, number <= most else {
      // The largest number that the type can hold is no limit of the user's.
      let range = most == Int64.max ? "of at least \(least)" : "from \(least) to \(most)"
      throw ValidationError("'\(text)' is not a whole number \(range).")
    }
    return number
  }
}
