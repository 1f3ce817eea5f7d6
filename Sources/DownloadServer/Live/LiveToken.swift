package import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The text of a position in a store's history, as the ids of server-sent events have it.
package enum LiveToken {
  /// The members of a token's coded form.
  private struct Parts: Codable {
    var number: UInt64
    var nonce: UInt32
  }

  /// Returns the text: two numbers with a hyphen between them.
  package static func text(of token: HistoryToken) -> String {
    guard let data = try? JSONEncoder().encode(token),
      let parts = try? JSONDecoder().decode(Parts.self, from: data)
    else { return "" }
    return "\(parts.number)-\(parts.nonce)"
  }

  /// Parses a text; `nil` for anything else than two numbers.
  package static func token(_ text: String) -> HistoryToken? {
    let words = text.split(separator: "-", omittingEmptySubsequences: false)
    guard words.count == 2, let number = UInt64(words[0]), let nonce = UInt32(words[1]),
      let data = try? JSONEncoder().encode(Parts(number: number, nonce: nonce))
    else { return nil }
    return try? JSONDecoder().decode(HistoryToken.self, from: data)
  }
}
