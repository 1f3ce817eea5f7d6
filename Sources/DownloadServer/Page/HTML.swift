/// A piece of HTML, in which every interpolated text is escaped.
///
/// The literal parts are markup; an interpolated string is text, in the content of an element or in an
/// attribute in double quotation marks. Only another ``HTML`` is inserted as it is.
///
/// ```
/// let name = "<b>"
/// let cell: HTML = "<td title=\"\(name)\">\(name)</td>"  // <td title="&lt;b&gt;">&lt;b&gt;</td>
/// ```
struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// The markup.
  private(set) var text: String

  init(stringLiteral value: String) { text = value }

  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// Joins pieces.
  init(_ pieces: some Sequence<HTML>) {
    text = pieces.reduce(into: "") { $0 += $1.text }
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 24 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends a text, escaped.
    mutating func appendInterpolation(_ value: String) { HTML.appendEscaped(value, to: &text) }

    mutating func appendInterpolation(_ value: Substring) {
      HTML.appendEscaped(String(value), to: &text)
    }

    mutating func appendInterpolation(_ number: some BinaryInteger) { text += String(number) }

    mutating func appendInterpolation(_ html: HTML) { text += html.text }

    /// Appends a piece, if there is one.
    mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }

    mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { text += piece.text }
    }

    /// Appends a piece if a condition holds.
    mutating func appendInterpolation(_ html: HTML, if condition: Bool) {
      if condition { text += html.text }
    }
  }

  /// Appends a text with the characters of markup escaped.
  ///
  /// Control characters and the marks that change the direction of the text around them are replaced,
  /// so that a name cannot disguise itself or the text behind it.
  private static func appendEscaped(_ value: String, to text: inout String) {
    var isPlain = true
    for byte in value.utf8 where byte < 0x40 || byte > 0x7E {
      isPlain = byte >= 0x20 && byte != 0x22 && byte != 0x26 && byte != 0x27 && byte < 0x3C
      if !isPlain { break }
    }
    guard !isPlain else {
      text += value
      return
    }
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      case "\n", "\t": text.unicodeScalars.append(scalar)
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{200E}"..."\u{200F}",
        "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}":
        text += "\u{FFFD}"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension HTML {
  /// The style sheet of pages, which is a file of the program: it is inserted as it is.
  static let style: HTML = {
    var element: HTML = "<style>"
    element.text += "\(PageStyle.text)</style>"
    return element
  }()
}

/// The pictures of states and commands, which the sprite of each page defines.
enum Icon: String, CaseIterable, Sendable {
  case all, waiting, running, retrying, paused, failed, finalizing, completed, cancelled
  case logo, engine, more, play, now, trash, edit, plus, warning, store

  /// The picture, which has no meaning of its own: a text beside it says the same.
  var html: HTML {
    "<svg class=\"icon\" aria-hidden=\"true\"><use href=\"#i-\(rawValue)\"/></svg>"
  }

  /// The definitions, for the beginning of a page.
  static let sprite: HTML = """
    <svg class="sprite" aria-hidden="true">\
    \(allCases.map { "<symbol id=\"i-\($0.rawValue)\" viewBox=\"0 0 24 24\">\($0.shapes)</symbol>" })\
    </svg>
    """

  private var shapes: HTML {
    switch self {
    case .all: "<path d=\"M4 6h16M4 12h16M4 18h16\"/>"
    case .waiting: "<circle cx=\"12\" cy=\"12\" r=\"9\"/><path d=\"M12 7v5l3 2\"/>"
    case .running: "<path d=\"M12 4v12m-5-5 5 5 5-5M6 21h12\"/>"
    case .retrying: "<path d=\"M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6\"/>"
    case .paused: "<path d=\"M8 5v14M16 5v14\"/>"
    case .failed, .warning: "<path d=\"M8 3h8l5 5v8l-5 5H8l-5-5V8z\"/><path d=\"M12 8v5m0 3v.01\"/>"
    case .finalizing: "<path d=\"M4 12h10m-4-4 4 4-4 4M19 5v14\"/>"
    case .completed: "<circle cx=\"12\" cy=\"12\" r=\"9\"/><path d=\"m8 12 3 3 5-6\"/>"
    case .cancelled: "<circle cx=\"12\" cy=\"12\" r=\"9\"/><path d=\"m6 18 12-12\"/>"
    case .logo: "<path d=\"M12 3v12m-5-5 5 5 5-5M4 20h16\"/>"
    case .engine:
      "<circle cx=\"12\" cy=\"12\" r=\"3\"/><path d=\"M12 2v4m0 12v4M2 12h4m12 0h4M5 5l3 3m8 8 3 3M19 5l-3 3m-8 8-3 3\"/>"
    case .more: "<path d=\"M5 12h.01M12 12h.01M19 12h.01\"/>"
    case .play: "<path d=\"M7 4v16l13-8z\"/>"
    case .now: "<path d=\"M13 2 5 14h6l-1 8 8-12h-6z\"/>"
    case .trash: "<path d=\"M4 7h16M9 7V4h6v3m-8 0 1 13h8l1-13\"/>"
    case .edit: "<path d=\"m4 20 1-4L16 5l3 3L8 19z\"/>"
    case .plus: "<path d=\"M12 5v14M5 12h14\"/>"
    case .store:
      "<ellipse cx=\"12\" cy=\"5\" rx=\"8\" ry=\"3\"/><path d=\"M4 5v14c0 1.7 3.6 3 8 3s8-1.3 8-3V5M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3\"/>"
    }
  }
}
