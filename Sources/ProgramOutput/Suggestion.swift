/// Finds the word that a user probably meant.
package enum Suggestion {
  /// Returns ` Did you mean 'list'?`, with the leading space, or an empty string if no candidate is
  /// similar.
  package static func text(for word: String, among candidates: [String]) -> String {
    nearest(to: word, among: candidates).map { " Did you mean '\($0)'?" } ?? ""
  }

  /// The words that people write for another one, as other programs name it.
  private static let synonyms: [String: Set<String>] = [
    "done": ["completed"], "complete": ["completed"], "finished": ["completed"],
    "error": ["failed", "fail"], "errored": ["failed"], "broken": ["failed"],
    "active": ["running"], "downloading": ["running"], "started": ["running"],
    "queued": ["waiting"], "pending": ["waiting"], "stopped": ["paused"], "held": ["waiting"],
    "aborted": ["cancelled"], "deleted": ["cancelled"],
    "skip": ["keep"], "ignore": ["keep"], "overwrite": ["replace"], "force": ["replace"],
    "rename": ["number"], "refuse": ["fail"],
    "yes": ["always"], "on": ["always"], "true": ["always"],
    "no": ["never", "none"], "off": ["never", "none"], "false": ["never", "none"],
    "prealloc": ["full"], "falloc": ["full"], "trunc": ["sparse"],
    "ndjson": ["jsonl"], "text": ["table"], "nio": ["async-http-client"],
    "foundation": ["urlsession"],
  ]

  /// The candidate that the word stands for, or else the most similar one; of several, the first.
  ///
  /// A candidate is similar if a third of its characters or fewer differ, but at least one may, or
  /// if it alone starts with the word. The dashes of an option, which all options share, do not count.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    // Bounds the cost, which is the product of the lengths.
    guard !word.isEmpty, word.utf8.count <= 64 else { return nil }
    let word = word.lowercased()
    if let meant = synonyms[word], let candidate = candidates.first(where: meant.contains) {
      return candidate
    }
    let distances = candidates.map { ($0, distance(word, $0.lowercased())) }
    let similar = distances.filter { candidate, distance in
      distance <= max(1, candidate.drop { $0 == "-" }.count / 3)
    }
    .min { $0.1 < $1.1 }
    if let similar { return similar.0 }
    let longer = candidates.filter { $0.lowercased().hasPrefix(word) }
    return longer.count == 1 ? longer.first : nil
  }

  /// The number of characters to insert, delete, replace or swap with their neighbour that turns
  /// one word into the other.
  package static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var rows = [Array(0...right.count)]
    for row in 1...left.count {
      var next = [row]
      for column in 1...right.count {
        let isSame = left[row - 1] == right[column - 1]
        var cost = min(rows[row - 1][column] + 1, next[column - 1] + 1)
        cost = min(cost, rows[row - 1][column - 1] + (isSame ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2],
          left[row - 2] == right[column - 1]
        {
          cost = min(cost, rows[row - 2][column - 2] + 1)
        }
        next.append(cost)
      }
      rows.append(next)
    }
    return rows[left.count][right.count]
  }
}
