internal import DownloadStore

/// A picture of the bytes of a file that are on disk.
struct RangeMap {
  /// The number of steps across the picture.
  static let width = 1000

  private let ranges: [Range<Int64>]
  private let size: Int64?
  private let isComplete: Bool

  /// The map of a download.
  init(_ record: DownloadRecord) {
    isComplete = record.state == .completed
    size = record.expected ?? (isComplete ? record.received : nil)
    ranges = isComplete ? [0..<max(1, record.received)] : record.committed.ranges
  }

  init(ranges: [Range<Int64>], size: Int64?, isComplete: Bool = false) {
    self.ranges = ranges
    self.size = size
    self.isComplete = isComplete
  }

  /// The bars, as their starts and widths; each is visible, however short its range.
  var bars: [(start: Int, width: Int)] {
    guard let size, size > 0 else { return [] }
    let scale = Double(Self.width) / Double(size)
    var bars: [(start: Int, width: Int)] = []
    for range in ranges {
      let start = min(Self.width - 1, max(0, Int(Double(range.lowerBound) * scale)))
      let end = min(Self.width, max(start + 1, Int((Double(range.upperBound) * scale).rounded())))
      if let last = bars.last, last.start + last.width >= start {
        bars[bars.count - 1].width = max(last.width, end - last.start)
      } else {
        bars.append((start, end - start))
      }
    }
    return bars
  }

  /// What the picture shows.
  var sentence: String {
    if isComplete { return "the whole file is on disk" }
    guard size != nil else { return "the size of the file is not known yet" }
    guard !ranges.isEmpty else { return "no bytes are on disk yet" }
    guard ranges.count > 1 || ranges[0].lowerBound > 0 else { return "the first bytes are on disk" }
    return "\(PageText.count(ranges.count, "range")) on disk"
  }

  var html: HTML {
    let bars = bars.map { bar -> HTML in
      "<rect class=\"have\" x=\"\(bar.start)\" y=\"0\" width=\"\(bar.width)\" height=\"36\"/>"
    }
    return """
      <svg class="map" viewBox="0 0 \(Self.width) 36" preserveAspectRatio="none" role="img" \
      aria-label="Map of the file: \(sentence)">\(bars)</svg>
      """
  }
}
