package import ObjectStore

/// Text for a terminal: its width in columns, and the removal of control characters.
package enum TerminalText {
  /// Returns the text on one line, with harmful characters replaced by U+FFFD.
  package static func safe(_ text: String) -> String {
    guard !isPlain(text) else { return text }
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      result.append(isHarmful(scalar) ? "\u{FFFD}" : scalar)
    }
    return String(result)
  }

  /// Returns the text with harmful characters other than line feeds replaced by U+FFFD.
  package static func safeLines(_ text: String) -> String {
    text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map { safe(String($0)) }.joined(separator: "\n")
  }

  /// Returns the width of the text in columns.
  package static func width(_ text: String) -> Int {
    if isPlain(text) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  /// Returns the greatest width that a terminal may give the text.
  ///
  /// A terminal without support for an emoji sequence shows each of its emoji.
  package static func widestWidth(_ text: String) -> Int {
    if isPlain(text) { return text.utf8.count }
    return text.reduce(0) { $0 + widestWidth($1) }
  }

  /// Returns the text padded with blanks.
  package static func padded(_ text: String, to width: Int, alignedRight: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - self.width(text)))
    return alignedRight ? blanks + text : text + blanks
  }

  /// Returns the text truncated to `width` columns, with an ellipsis if it was longer.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - width: The width in columns.
  ///   - ellipsis: The end of truncated text.
  ///   - onAnyTerminal: Whether to measure with ``widestWidth(_:)``.
  /// - Returns: The text, or its beginning.
  package static func truncated(
    _ text: String,
    to width: Int,
    ellipsis: String = "…",
    onAnyTerminal: Bool = false
  ) -> String {
    guard (onAnyTerminal ? widestWidth(text) : self.width(text)) > width else { return text }
    guard width > 0 else { return "" }
    var result = ""
    var used = self.width(ellipsis)
    for character in text {
      used += onAnyTerminal ? widestWidth(character) : self.width(character)
      guard used <= width else { break }
      result.append(character)
    }
    return result + ellipsis
  }

  /// Returns the text in a directional isolate if it contains right-to-left characters.
  ///
  /// Terminals that reorder text would otherwise also reorder numbers and punctuation of the
  /// neighboring columns. Other terminals ignore FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE,
  /// which have no width. ``safe(_:)`` removes both from names, so a name cannot end the isolate.
  package static func isolated(_ text: String) -> String {
    text.unicodeScalars.contains(where: isRightToLeft) ? "\u{2068}\(text)\u{2069}" : text
  }

  /// Whether all characters are printable ASCII, each of width 1.
  ///
  /// That is most text of a long list, and its characters need not be found.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
  }

  /// Whether terminals disagree about the width of the text: it contains an emoji sequence.
  package static func hasUncertainWidth(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      switch scalar.value {
      // Joiner, variation selector, skin tones, flags.
      case 0x200D, 0xFE0F, 0x1F3FB...0x1F3FF, 0x1F1E6...0x1F1FF: true
      default: false
      }
    }
  }

  /// Whether the scalar is in a block of right-to-left scripts.
  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }

  /// Whether a scalar can control a terminal, end a line, or disguise a name by changing the direction
  /// of text: C0 and C1 controls, line and paragraph separators, and `Bidi_Control`.
  package static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  private static func widestWidth(_ character: Character) -> Int {
    max(width(character), character.unicodeScalars.reduce(0) { $0 + width($1) })
  }

  private static func width(_ character: Character) -> Int {
    var widest = 0
    var indicators = 0
    for scalar in character.unicodeScalars {
      // VARIATION SELECTOR-16 selects the emoji form of a narrow character.
      if scalar.value == 0xFE0F { return 2 }
      if regionalIndicators.contains(scalar.value) { indicators += 1 }
      widest = max(widest, width(scalar))
    }
    // Two regional indicators are a flag.
    return indicators == 2 ? 2 : widest
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  private static let regionalIndicators: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

  /// The ranges in which Unicode's East Asian Width is `W` or `F`, by block.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x25FD...0x25FE,
    0x2614...0x2615, 0x26A1...0x26A1, 0x2705...0x2705, 0x2728...0x2728, 0x274C...0x274C,
    0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797, 0x2B1B...0x2B1C, 0x2B50...0x2B50,
    0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F7E0...0x1F7EB,
    0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
  ]
}

extension JSONValue {
  /// The JSON text on one line.
  package var text: String { text(indent: nil) }

  /// The JSON text with one member per line.
  package var prettyText: String { text(indent: 0) }

  private func text(indent: Int?) -> String {
    var text: [UInt8] = []
    writeSafely(to: &text, indent: indent)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the JSON text with harmful characters escaped; a parser reads the same string.
  package func writeSafely(to text: inout [UInt8], indent: Int? = nil) {
    write(to: &text, indent: indent) { scalar in
      switch scalar {
      case "\r": "\\r"
      case "\t": "\\t"
      default:
        Self.escape(scalar) ?? (TerminalText.isHarmful(scalar) ? Self.escapeByCode(scalar) : nil)
      }
    }
  }
}
