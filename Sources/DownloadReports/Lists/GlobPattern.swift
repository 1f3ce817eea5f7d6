/// A shell pattern for whole strings: `*` matches anything, `?` one character, `[a-z]` and `[!a-z]`
/// one character of a set.
///
/// A `*` also matches `/`. A bracket that is never closed matches itself. Matching takes at most time
/// proportional to the length of the pattern times the length of the text.
package struct GlobPattern: Sendable {
  private enum Element: Sendable {
    case any
    case one
    case character(Character)
    case set([ClosedRange<Character>], isNegated: Bool)

    func matches(_ character: Character) -> Bool {
      switch self {
      case .any, .one: true
      case .character(let own): own == character
      case .set(let ranges, let isNegated):
        ranges.contains { $0.contains(character) } != isNegated
      }
    }
  }

  private let elements: [Element]
  /// Whether a bracket is never closed, which the user of a command has probably forgotten.
  package private(set) var hasUnclosedBracket = false

  /// Parses a pattern; every string is valid.
  package init(_ pattern: String) {
    var rest = Array(pattern)[...]
    var elements: [Element] = []
    while let next = rest.popFirst() {
      switch next {
      case "*": elements.append(.any)
      case "?": elements.append(.one)
      case "[":
        let set = Self.set(&rest)
        hasUnclosedBracket = hasUnclosedBracket || set == nil
        elements.append(set ?? .character("["))
      default: elements.append(.character(next))
      }
    }
    self.elements = elements
  }

  /// Whether the pattern matches the whole text.
  package func matches(_ text: String) -> Bool {
    let text = Array(text)
    var position = 0
    var element = 0
    // Where to continue on a mismatch after the last star: the star takes one more character.
    var retry: (element: Int, position: Int)?
    while position < text.count {
      if element < elements.count, case .any = elements[element] {
        retry = (element, position)
        element += 1
      } else if element < elements.count, elements[element].matches(text[position]) {
        element += 1
        position += 1
      } else if let star = retry {
        element = star.element + 1
        position = star.position + 1
        retry = (star.element, position)
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { if case .any = $0 { true } else { false } }
  }

  /// Parses a set after its opening bracket; consumes nothing if the set is never closed.
  private static func set(_ rest: inout ArraySlice<Character>) -> Element? {
    var inner = rest
    let isNegated = inner.first == "!" || inner.first == "^"
    if isNegated { inner.removeFirst() }
    var ranges: [ClosedRange<Character>] = []
    var isFirst = true
    while let lower = inner.popFirst() {
      // A closing bracket in first position is a member.
      if lower == "]", !isFirst {
        rest = inner
        return .set(ranges, isNegated: isNegated)
      }
      isFirst = false
      let upper = inner.dropFirst().first
      if inner.first == "-", let upper, upper != "]" {
        inner.removeFirst(2)
        if lower <= upper { ranges.append(lower...upper) }
      } else {
        ranges.append(lower...lower)
      }
    }
    return nil
  }
}
