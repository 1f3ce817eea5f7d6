import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct ChunkedArrayTests {
  private typealias Edit = ChunkedArray<Int>.Edit

  private func elements(_ array: ChunkedArray<Int>) -> [Int] {
    (0..<array.count).map { array[$0] }
  }

  @Test(arguments: [0, 1, 127, 128, 129, 255, 256, 1_000, 5_000])
  func `a new array keeps the order and uses chunks of 128 elements`(count: Int) {
    let array = ChunkedArray(0..<count)
    #expect(elements(array) == Array(0..<count))
    #expect(array.chunks.dropLast().allSatisfy { $0.count == 128 })
    #expect(array.chunks.allSatisfy { !$0.isEmpty })
    for bound in [-1, 0, 1, count / 2, count - 1, count] {
      #expect(array.partitionPoint { $0 >= bound } == min(max(bound, 0), count))
    }
  }

  /// Compares random edits, including those at chunk boundaries, with the same edits of an array.
  @Test(arguments: 0..<8) func `edits have the same result as on an array`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var array = ChunkedArray<Int>()
    var model: [Int] = []
    for round in 0..<40 {
      var edits: [Edit] = []
      var edited: [Int] = []
      let likelihood = [2, 20, 200].randomElement(using: &random) ?? 2
      for position in 0...model.count {
        func chooses() -> Bool { Int.random(in: 0..<likelihood, using: &random) == 0 }
        while (model.count < 2_000 && chooses()) || (model.isEmpty && edits.count < 300) {
          let element = Int.random(in: 0..<1_000_000, using: &random)
          edits.append(Edit(position: position, kind: .insert(element)))
          edited.append(element)
        }
        guard position < model.count else { break }
        switch chooses() ? Int.random(in: 0..<3, using: &random) : 3 {
        case 0 where round % 4 != 0, 1: edits.append(Edit(position: position, kind: .remove))
        case 2:
          edits.append(Edit(position: position, kind: .replace(-position)))
          edited.append(-position)
        default: edited.append(model[position])
        }
      }
      array.apply(edits)
      model = edited
      #expect(elements(array).elementsEqual(model))
      #expect(array.chunks.allSatisfy { !$0.isEmpty && $0.count < 256 })
      // An edited chunk that fits into the previous one is merged with it, so there are few small
      // chunks.
      #expect(array.chunks.count <= 2 + model.count / 16)
      var start = 0
      for (chunk, known) in zip(array.chunks, array.starts) {
        #expect(known == start)
        start += chunk.count
      }
    }
  }

  @Test func `editing a copy does not change the original`() {
    let before = ChunkedArray(0..<1_000)
    var after = before
    after.apply([Edit(position: 500, kind: .replace(-1)), Edit(position: 999, kind: .remove)])
    #expect(elements(before) == Array(0..<1_000))
    #expect(after[500] == -1 && after.count == 999)
  }

  @Test func `an edit copies only the chunk that it changes`() {
    let before = ChunkedArray(0..<10_000)
    var after = before
    after.apply([Edit(position: 5_000, kind: .replace(-1))])
    let shared = zip(before.chunks, after.chunks).count { one, other in
      unsafe one.withUnsafeBufferPointer { one in
        unsafe other.withUnsafeBufferPointer { unsafe one.baseAddress == $0.baseAddress }
      }
    }
    #expect(shared == before.chunks.count - 1)
  }
}

@Suite struct ResultDifferenceTests {
  private func permutations(_ ids: [UInt64]) -> [[UInt64]] {
    guard !ids.isEmpty else { return [[]] }
    return ids.indices.flatMap { index in
      var rest = ids
      let id = rest.remove(at: index)
      return permutations(rest).map { [id] + $0 }
    }
  }

  /// Compares `[1, 2, 3, 4]` with every permutation of every subset of five ids.
  @Test func `the deletions and insertions are minimal and produce the new order`() {
    let old: [UInt64] = [1, 2, 3, 4]
    for choice in 0..<32 {
      let ids = (0..<5).filter { choice & 1 << $0 != 0 }.map { UInt64($0 + 1) }
      for new in permutations(ids) {
        let difference = ResultDifference(from: old, to: new)
        var result = old
        for offset in difference.deletions.reversed() { result.remove(at: offset) }
        for offset in difference.insertions { result.insert(new[offset], at: offset) }
        #expect(result == new)
        #expect(difference.kept.map { old[$0.old] } == difference.kept.map { new[$0.new] })
        #expect(difference.kept.count == longestCommon(old, new))
      }
    }
  }

  private func longestCommon(_ left: [UInt64], _ right: [UInt64]) -> Int {
    guard let first = left.first else { return 0 }
    let rest = longestCommon(Array(left.dropFirst()), right)
    guard let index = right.firstIndex(of: first) else { return rest }
    return max(rest, 1 + longestCommon(Array(left.dropFirst()), Array(right[(index + 1)...])))
  }
}
