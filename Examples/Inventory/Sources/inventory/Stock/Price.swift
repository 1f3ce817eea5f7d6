import ArgumentParser
import Foundation

/// An exact amount of money as typed on the command line: `4`, `4.2`, `0.05`.
struct Price: ExpressibleByArgument {
  var value: Decimal

  init?(argument: String) {
    // `Decimal(string:)` ignores any text after the number.
    let parts = argument.split(separator: ".", omittingEmptySubsequences: false)
    let isNumber = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
    guard isNumber, parts.count <= 2, let value = Decimal(string: argument) else { return nil }
    self.value = value
  }
}
