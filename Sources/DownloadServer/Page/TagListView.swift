internal import DownloadStore
internal import ObjectStore
internal import ProgramOutput

/// The totals of the downloads with one tag.
struct TagTotals: Sendable {
  var tag: String
  var progress: GroupProgress
}

/// The tags of a store with their totals.
struct TagList: Sendable {
  /// The number of downloads that are read.
  static let maximumCount = 20_000

  var tags: [TagTotals] = []
  /// Whether the store has more downloads than were read.
  var isPartial = false

  /// Reads the downloads that were added last.
  ///
  /// - Throws: `StoreError`.
  init(in store: RecordStore) throws {
    typealias Row = (tags: Set<String>, id: String, member: GroupTally.Member)
    let rows: [Row] = try store.objects.read { tx in
      let query = Query(DownloadRecord.columns.state != .removed).limit(Self.maximumCount + 1)
      return try tx.fetch(query) { view -> Row in
        (
          try view.tags, try view.id,
          GroupTally.Member(
            state: try view.state,
            received: try view.received,
            expected: try view.expected
          )
        )
      }
    }
    var tallies: [StoredText: GroupTally] = [:]
    for row in rows.prefix(Self.maximumCount) {
      for tag in row.tags { tallies[StoredText(tag), default: GroupTally()][row.id] = row.member }
    }
    tags = tallies.map { TagTotals(tag: $0.key.text, progress: $0.value.progress) }
      .sorted { $0.tag < $1.tag }
    isPartial = rows.count > Self.maximumCount
  }

  init(tags: [TagTotals]) { self.tags = tags }

  /// The page, whose totals are read after its heading was sent.
  static let parts: [PagePart] = [
    .ready(
      """
      <div class="lead"><div><p class="small"><a href="/">Downloads</a></p><h1>Tags</h1></div></div>
      <section class="card">
      """
    ),
    .read { store in try Self(in: store).html },
    .ready("</section>"),
  ]

  /// The content of the card.
  var html: HTML { "\(limit, if: isPartial)\(table)" }

  private var limit: HTML {
    """
    <header><p class="muted">The totals of the first \(PageText.number(Self.maximumCount)) downloads</p>\
    </header>
    """
  }

  private var table: HTML {
    guard !tags.isEmpty else {
      return """
        <div class="empty">\(Icon.all.html)<strong>No tags</strong><span>A tag groups downloads: \
        <code>dlstore add URL --tag NAME</code></span></div>
        """
    }
    return """
      <div class="scroll" tabindex="0" role="group" aria-label="Tags"><table class="data">\
      <caption class="hidden-label">Tags with the totals of their downloads</caption><thead><tr>\
      <th scope="col">Tag</th><th scope="col" class="number">Downloads</th>\
      <th scope="col" class="number">Completed</th><th scope="col" class="number">Running</th>\
      <th scope="col" class="number">Failed</th><th scope="col" class="number">Received</th>\
      <th scope="col" class="number">Size</th><th scope="col">Progress</th></tr></thead>\
      <tbody>\(tags.map(row))</tbody></table></div>
      """
  }

  private func row(_ totals: TagTotals) -> HTML {
    let progress = totals.progress
    var query = DownloadListQuery()
    query.tag = totals.tag
    let fraction = progress.fractionOfKnown ?? 0
    let size =
      ByteAmount.text(progress.expected)
      + (progress.unknownTotals > 0 ? " and \(progress.unknownTotals) unknown" : "")
    return """
      <tr><th scope="row"><a href="\(query.address)"><bdi>\(totals.tag)</bdi></a></th>\
      <td class="number">\(PageText.number(progress.members))</td>\
      <td class="number">\(PageText.number(progress.completed))</td>\
      <td class="number">\(PageText.number(progress.running))</td>\
      <td class="number">\(PageText.number(progress.failed))</td>\
      <td class="number">\(ByteAmount.text(progress.received))</td><td class="number">\(size)</td>\
      <td><progress max="1000" value="\(Int(fraction * 1000))" aria-label="Progress of \(totals.tag)">\
      </progress></td></tr>
      """
  }
}
