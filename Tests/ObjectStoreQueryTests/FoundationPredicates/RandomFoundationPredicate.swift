import Foundation
import ObjectStore
import TestSupport

/// A generator of typical Foundation predicates with random values.
enum RandomFoundationPredicate {
  static func make(_ random: inout SplitMix64) -> Predicate<Card> {
    switch Int.random(in: 0..<13, using: &random) {
    case 0..<3: number(&random)
    case 3..<6: text(&random)
    case 6..<8: optional(&random)
    case 8..<10: collection(&random)
    default: composed(&random)
    }
  }

  /// Written out, because the macro cannot compose predicates here.
  private static func composed(_ random: inout SplitMix64) -> Predicate<Card> {
    let text = random.element(Card.strings)
    let rank = random.element(Samples.ranks)
    let ratio = random.element(Samples.ratios)
    let level = Int.random(in: -2...4, using: &random)
    let date = random.element(Samples.dates)
    let bool = random.chance(50)
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return #Predicate { $0.rank < rank && $0.text.contains("a") }
    case 1: return #Predicate { $0.rank == rank || $0.tags.contains(text) }
    case 2: return #Predicate { !($0.rank == rank && $0.isOpen) || $0.ratio > ratio }
    case 3: return #Predicate { !($0.nick == text) && !($0.level == nil) }
    case 4: return #Predicate { ($0.rank > rank || $0.level == level) && !$0.tags.isEmpty }
    case 5: return #Predicate { $0.isOpen ? $0.ratio < ratio : $0.text == text }
    case 6: return #Predicate { bool && $0.rank >= rank || !bool && $0.date < date }
    case 7: return #Predicate { $0.rank != rank && $0.rank > -3 && $0.rank <= 255 }
    case 8: return #Predicate { !(!$0.isOpen || !($0.text != text)) }
    case 9: return #Predicate { $0.text == text || $0.text == "a" || $0.text == "ab" }
    case 10: return #Predicate { !$0.marks.contains { !($0 > ratio) } && $0.id > 4 }
    default: return #Predicate { ($0.isOpen == bool) == false && $0.rank < 3 }
    }
  }

  private static func number(_ random: inout SplitMix64) -> Predicate<Card> {
    let rank = random.element(Samples.ranks)
    let (low, high) = (min(rank, 2), max(rank, 2))
    let ratio = random.element(Samples.ratios)
    let date = random.element(Samples.dates)
    let suit = random.element(Card.Suit.allCases)
    let uuid = random.element(Samples.uuids)
    let bool = random.chance(50)
    let ranks = [rank, 3, 255]
    switch Int.random(in: 0..<24, using: &random) {
    case 0: return #Predicate { $0.rank == rank }
    case 1: return #Predicate { rank != $0.rank }
    case 2: return #Predicate { $0.rank < rank }
    case 3: return #Predicate { rank <= $0.rank }
    case 4: return #Predicate { $0.rank > rank && $0.id >= 3 }
    case 5: return #Predicate { (low...high).contains($0.rank) }
    case 6: return #Predicate { (low..<high).contains($0.rank) }
    case 7: return #Predicate { ranks.contains($0.rank) }
    case 8: return #Predicate { $0.ratio == ratio }
    case 9: return #Predicate { $0.ratio != ratio }
    case 10: return #Predicate { $0.ratio < ratio }
    case 11: return #Predicate { $0.ratio >= ratio }
    case 12: return #Predicate { $0.ratio <= ratio || $0.ratio > 1 }
    case 13: return #Predicate { $0.date < date }
    case 14: return #Predicate { $0.date <= date }
    case 15: return #Predicate { date <= $0.date }
    case 16: return #Predicate { $0.date > date }
    case 17: return #Predicate { $0.date == date }
    case 18: return #Predicate { $0.suit == suit }
    case 19: return #Predicate { $0.uuid == uuid }
    case 20: return #Predicate { $0.uuid < uuid }
    case 21: return #Predicate { $0.isOpen == bool }
    case 22: return #Predicate { $0.isOpen }
    default: return #Predicate { _ in bool }
    }
  }

  private static func text(_ random: inout SplitMix64) -> Predicate<Card> {
    let text = random.element(Card.strings)
    let part = random.element(["", "a", "k", "K", "e", "\u{301}", "\r", "s", text])
    let strings = [text, "a", "Kelvin"]
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: return #Predicate { $0.text == text }
    case 2: return #Predicate { $0.text != text }
    case 3: return #Predicate { $0.text < text }
    case 4: return #Predicate { $0.text >= text }
    case 5: return #Predicate { $0.text.contains(part) }
    case 6: return #Predicate { $0.text.starts(with: part) }
    case 7: return #Predicate { strings.contains($0.text) }
    case 8: return #Predicate { $0.text.isEmpty }
    default: return #Predicate { $0.text.count > 2 }
    }
  }

  private static func optional(_ random: inout SplitMix64) -> Predicate<Card> {
    let text = random.element(Card.strings)
    let level = Int.random(in: -2...4, using: &random)
    let date = random.element(Samples.dates)
    let none: Int? = random.chance(50) ? nil : level
    let levels = [3, none]
    switch Int.random(in: 0..<20, using: &random) {
    case 0: return #Predicate { $0.nick == nil }
    case 1: return #Predicate { $0.nick != nil }
    case 2: return #Predicate { $0.nick == text }
    case 3: return #Predicate { $0.nick != text }
    case 4: return #Predicate { ($0.nick ?? "a") == text }
    case 5: return #Predicate { $0.nick?.isEmpty == true }
    case 6: return #Predicate { $0.nick?.isEmpty == false }
    case 7: return #Predicate { $0.nick?.contains("a") == true }
    case 8: return #Predicate { $0.nick?.contains("a") != false }
    case 9: return #Predicate { $0.nick?.starts(with: "a") ?? false }
    case 10: return #Predicate { $0.nick?.starts(with: "a") ?? true }
    case 11: return #Predicate { $0.nick.flatMap { $0 == text } == true }
    case 12: return #Predicate { levels.contains($0.level) }
    case 13: return #Predicate { $0.nick?.count == 2 }
    case 14: return #Predicate { $0.level == none }
    case 15: return #Predicate { ($0.level ?? 1) > level }
    case 16: return #Predicate { ($0.level ?? 1) == level }
    case 17: return #Predicate { $0.level.flatMap { $0 >= level } == nil }
    case 18:
      return #Predicate { if let level = $0.level { level > 1 } else { false } }
    default: return #Predicate { if let end = $0.end { end >= date } else { true } }
    }
  }

  private static func collection(_ random: inout SplitMix64) -> Predicate<Card> {
    let text = random.element(Card.strings)
    let mark = random.element(Samples.ratios)
    let count = Int.random(in: 0...3, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: return #Predicate { $0.tags.contains(text) }
    case 2: return #Predicate { $0.tags.contains { $0 == text || $0 == "a" } }
    case 3: return #Predicate { $0.tags.contains { $0.starts(with: "a") && $0 != text } }
    case 4: return #Predicate { $0.tags.allSatisfy { $0 < text } }
    case 5: return #Predicate { $0.tags.isEmpty }
    case 6: return #Predicate { $0.tags.count > count }
    case 7: return #Predicate { count <= $0.marks.count }
    case 8: return #Predicate { $0.marks.contains(mark) }
    case 9: return #Predicate { $0.marks.contains { $0 > mark } }
    case 10: return #Predicate { $0.marks.allSatisfy { $0 >= mark } }
    default: return #Predicate { $0.marks.count == count && !$0.marks.contains { $0 == mark } }
    }
  }
}
