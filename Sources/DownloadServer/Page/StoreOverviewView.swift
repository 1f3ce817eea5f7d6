internal import DownloadStore
internal import ObjectStore
internal import ProgramOutput

/// What the page of a store shows: its models, sizes, readers and last commits.
struct StoreOverview: Sendable {
  var models: [StoredModel]
  var statistics: StoreStatistics
  var commits: [StoredCommit]

  /// Reads a store.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(1) in the objects: sizes are those of tables.
  init(of store: Store) throws {
    models = try store.storedModels().sorted { $0.name < $1.name }
    statistics = try store.statistics()
    commits = try store.lastStoredCommits(40, maximumChanges: 5000).suffix(15).reversed()
  }
}

/// The page of a store.
struct StoreOverviewView {
  let overview: StoreOverview

  private var statistics: StoreStatistics { overview.statistics }
  private var free: Int { statistics.freePages * statistics.pageSize }
  private var used: Int { statistics.fileSize - free }

  /// The page, whose content is read after its heading was sent.
  static let parts: [PagePart] = [
    .ready(
      """
      <div class="lead"><h1>Store</h1><p>Read only</p></div>

      """
    ),
    .read { store in Self(overview: try StoreOverview(of: store.objects)).html },
  ]

  /// The content below the heading.
  var html: HTML {
    """
    <div class="stack" id="store" data-commit="\(statistics.lastCommit)" data-used="\(used)">\
    \(space)\(models)\(commits)\(readers)</div>
    """
  }

  // MARK: Space

  private var space: HTML {
    var parts = overview.models.map { model in
      SizePicture.Part(name: model.name, byteCount: statistics.models[model.name]?.byteCount ?? 0)
    }
    parts.sort { $0.byteCount > $1.byteCount }
    let known = parts.reduce(free) { $0 + $1.byteCount }
    parts.append(
      .init(name: "history and metadata", byteCount: max(0, statistics.fileSize - known))
    )
    parts.append(.init(name: "free pages", byteCount: free, isFree: true))
    let share = Double(statistics.fileSize) / Double(max(1, statistics.mapSize))
    return """
      <section class="card" aria-label="Space"><div class="body stack"><div class="big">\
      <div><span>File</span><b>\(ByteAmount.text(Int64(statistics.fileSize)))</b></div>\
      <div><span>Used</span><b>\(ByteAmount.text(Int64(used)))</b></div>\
      <div><span>Free pages</span><b>\(PageText.number(statistics.freePages))</b></div>\
      <div><span>Room to grow</span>\
      <b>\(ByteAmount.text(Int64(max(0, statistics.mapSize - statistics.fileSize))))</b></div>\
      <div><span>Last commit</span><b>\(PageText.number(statistics.lastCommit))</b></div></div>\
      \(SizePicture(parts: parts).html)\
      <p class="small muted">The file fills \(PageText.percent(share))% of its map of \
      \(ByteAmount.text(Int64(statistics.mapSize))), which grows by itself. Later commits reuse free \
      pages; <code>dlstore compact</code> gives them back.</p>\
      <p class="small" id="growth" data-only="script" hidden></p></div></section>
      """
  }

  // MARK: Models

  private var models: HTML {
    let rows = overview.models.map { model -> HTML in
      let key = model.fields.first(where: \.isPrimaryKey)
      let size = Int64(statistics.models[model.name]?.byteCount ?? 0)
      return """
        <tr><th scope="row"><a href="/store/\(FormFields.encoded(model.name))"><b>\(model.name)</b></a>\
        </th><td class="number">\(PageText.number(model.objectCount))</td>\
        <td class="number">\(ByteAmount.text(size))</td>\
        <td>\(key.map { "\($0.name): \($0.type)" } ?? "")</td>\
        <td class="number">\(model.fields.count)</td><td>\(Self.indexes(of: model))</td></tr>
        """
    }
    return """
      <section class="card" aria-labelledby="models"><header><h2 id="models">Models</h2></header>\
      <div class="scroll" tabindex="0" role="group" aria-labelledby="models"><table class="data">\
      <caption class="hidden-label">Models with their objects and sizes</caption><thead><tr>\
      <th scope="col">Model</th><th scope="col" class="number">Objects</th>\
      <th scope="col" class="number">Size</th><th scope="col">Primary key</th>\
      <th scope="col" class="number">Fields</th><th scope="col">Indexes</th></tr></thead>\
      <tbody>\(rows)</tbody></table></div></section>
      """
  }

  static func indexes(of model: StoredModel) -> HTML {
    let names = model.indexes
      .map { index in
        index.fields.map { id in model.fields.first { $0.id == id }?.name ?? "#\(id)" }
          .joined(separator: " + ") + (index.isUnique ? " (unique)" : "")
      }
      .sorted()
    return
      "<span class=\"chips\">\(names.map { "<span class=\"chip\">\($0)</span>" as HTML })</span>"
  }

  // MARK: Readers and commits

  private var readers: HTML {
    let rows = statistics.readers.map { reader -> HTML in
      """
      <tr><th scope="row">Process \(reader.processID)</th><td class="number">\
      \(PageText.number(reader.ageInCommits))</td></tr>
      """
    }
    let table: HTML = """
      <table class="data"><caption class="hidden-label">Open snapshots</caption><thead><tr>\
      <th scope="col">Reader</th><th scope="col" class="number">Commits behind</th></tr></thead>\
      <tbody>\(rows)</tbody></table>
      """
    return """
      <section class="card" aria-labelledby="readers"><header><h2 id="readers">Readers</h2>\
      <span class="muted small">\(PageText.number(statistics.readers.count)) of at most \
      \(PageText.number(statistics.maximumReaders))</span></header>\
      \(rows.isEmpty ? "<div class=\"body muted\">No snapshot is open.</div>" : table)</section>
      """
  }

  private var commits: HTML {
    let rows = overview.commits.map { commit -> HTML in
      """
      <tr data-id="\(commit.number)"><td class="number">\(PageText.number(commit.number))</td>\
      <td>\(commit.changes.map { "<div>\(Self.description(of: $0))</div>" as HTML })</td></tr>
      """
    }
    let table: HTML = """
      <div class="scroll" tabindex="0" role="group" aria-labelledby="commits"><table class="data">\
      <caption class="hidden-label">Last commits, the latest first</caption><thead><tr>\
      <th scope="col" class="number">Commit</th><th scope="col">Changes</th></tr></thead>\
      <tbody>\(rows)</tbody></table></div>
      """
    return """
      <section class="card" aria-labelledby="commits"><header><h2 id="commits">Last commits</h2>\
      <span class="muted small">of all processes</span></header>\
      \(rows.isEmpty ? "<div class=\"body muted\">The history has no commit.</div>" : table)</section>
      """
  }

  /// What a commit has done to the objects of a model: up to three are named, of more their number.
  private static func description(of changes: StoredCommit.Changes) -> HTML {
    guard !changes.coversAllObjects else { return "\(changes.model): many objects" }
    let updated = changes.updated.map { update -> HTML in
      let name = link(to: update.key, of: changes.model)
      let fields = update.fields.joined(separator: ", ")
      return fields.isEmpty ? name : "\(name) <span class=\"muted\">\(fields)</span>"
    }
    let parts = [
      part("inserted", changes.inserted.map { link(to: $0, of: changes.model) }),
      part("updated", updated),
      part("deleted", changes.deleted.map { "<bdi>\(StoredValueText.short($0))</bdi>" }),
    ]
    return "\(changes.model)\(parts)"
  }

  private static func part(_ word: HTML, _ objects: [HTML]) -> HTML {
    switch objects.count {
    case 0: ""
    case 1...3: " · \(word) \(objects.enumerated().map { "\($0 > 0 ? "; " : "")\($1)" as HTML })"
    default: " · \(word) \(PageText.number(objects.count)) objects"
    }
  }

  private static func link(to key: StoredValue, of model: String) -> HTML {
    let name: HTML = "<bdi>\(StoredValueText.short(key))</bdi>"
    guard let address = StoredValueText.address(of: model, key: key) else { return name }
    return "<a href=\"\(address)\">\(name)</a>"
  }
}

/// Sizes as a bar, with a legend.
struct SizePicture {
  /// A part of the bar.
  struct Part {
    var name: String
    var byteCount: Int
    var isFree = false
  }

  let parts: [Part]

  var html: HTML {
    let total = max(1, parts.reduce(0) { $0 + $1.byteCount })
    var bars: [HTML] = []
    var legend: [HTML] = []
    var start = 0.0
    for (index, part) in parts.enumerated() where part.byteCount > 0 {
      let tone: HTML = part.isFree ? "tone-free" : "tone-\(min(index, 5))"
      let width = Double(part.byteCount) / Double(total) * 1000
      bars.append(
        "<rect class=\"\(tone)\" x=\"\(Int(start))\" y=\"0\" width=\"\(max(1, Int(width)))\" height=\"28\"/>"
      )
      legend.append(
        """
        <span><svg class="swatch" viewBox="0 0 12 12" aria-hidden="true"><rect class="\(tone)" width="12" \
        height="12" rx="3"/></svg> \(part.name) \(ByteAmount.text(Int64(part.byteCount)))</span>
        """
      )
      start += width
    }
    return """
      <svg class="sizes" viewBox="0 0 1000 28" preserveAspectRatio="none" role="img" \
      aria-label="The parts of the file, which the text below names">\(bars)</svg>\
      <div class="legend start">\(legend)</div>
      """
  }
}
