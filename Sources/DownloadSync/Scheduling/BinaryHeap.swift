/// A binary min-heap.
struct BinaryHeap<Element: Comparable & Sendable>: Sendable {
  private var elements: [Element] = []

  init() {}

  var isEmpty: Bool { elements.isEmpty }
  /// The smallest element; `nil` if the heap is empty.
  var first: Element? { elements.first }

  /// Inserts an element.
  ///
  /// - Complexity: O(log n).
  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  /// Removes and returns the smallest element; `nil` if the heap is empty.
  ///
  /// - Complexity: O(log n).
  mutating func popFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < elements.count else { return first }
      if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
      guard elements[child] < elements[parent] else { return first }
      elements.swapAt(parent, child)
      parent = child
    }
  }
}
