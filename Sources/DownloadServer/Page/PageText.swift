internal import DownloadReports
internal import DownloadStore
internal import ProgramOutput

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Numbers, times and words as pages show them; page.js writes the same forms.
enum PageText {
  /// A whole number with groups of three digits.
  static func number(_ count: some BinaryInteger) -> String {
    let digits = Array(String(count.magnitude))
    var text = count < 0 ? "−" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// A number of things, such as `1 download`.
  static func count(_ count: Int, _ thing: String) -> String {
    "\(number(count)) \(thing)\(count == 1 ? "" : "s")"
  }

  /// A speed; empty if it is not known.
  static func speed(_ bytesPerSecond: Double?) -> String { bytesPerSecond.map(Speed.text) ?? "" }

  /// A duration in its two largest units, such as `2m 14s`.
  static func duration(_ seconds: Double) -> String {
    let seconds = Int(max(0, min(seconds.rounded(.up), 1e11)))
    switch seconds {
    case ..<60: return "\(seconds)s"
    case ..<3600: return "\(seconds / 60)m \(seconds % 60)s"
    case ..<86_400: return "\(seconds / 3600)h \(seconds % 3600 / 60)m"
    default: return "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
    }
  }

  /// The whole percents of a fraction; only a complete file has 100.
  static func percent(_ fraction: Double) -> Int {
    fraction >= 1 ? 100 : min(99, Int(fraction * 100))
  }

  /// A time, which page.js shows in the reader's time zone.
  static func time(_ date: Date) -> HTML {
    let text = Timestamp.text(date)
    let shown = text.prefix(16).replacing("T", with: " ")
    return "<time datetime=\"\(text)\">\(String(shown)) UTC</time>"
  }

  /// A word with a capital letter.
  static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  /// The host of a URL with its port, for people.
  static func host(of url: String) -> String {
    guard let url = try? RequestURL(url) else { return "" }
    return url.port.map { "\(url.host):\($0)" } ?? url.host
  }
}

extension Icon {
  /// The picture of a state, by its word.
  init(state word: String) { self = Icon(rawValue: word) ?? .all }
}

/// A state with its picture.
struct StateLabel {
  let word: String

  var html: HTML {
    "<span class=\"state \(word)\">\(Icon(state: word).html) \(PageText.capitalized(word))</span>"
  }
}
