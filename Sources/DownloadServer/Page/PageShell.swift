internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import ProgramOutput

/// What the frame of a page says of the store.
///
/// It is read before the content of the page, so that the events after its position miss no change that
/// the content does not show.
struct PageFrame: Sendable {
  /// The position in the history of the store, for `/events`.
  var position: String
  /// The process whose engine runs; `nil` if none does.
  var engine: String?

  /// Reads the frame.
  ///
  /// - Throws: `StoreError`.
  init(of store: RecordStore) throws {
    position = LiveToken.text(of: try store.objects.read { tx in try tx.historyToken() })
    engine = EngineLock.holder(storePath: store.path)
  }
}

/// The markup around the content of a page.
struct PageShell {
  /// The pages that the navigation names.
  enum Section: Sendable, Hashable { case downloads, store, none }

  /// The title, for people.
  var title: String
  var section: Section
  var frame: PageFrame
  /// Whether pages have buttons that change the store.
  var allowsChanges: Bool
  /// The path of the store's folder.
  var storePath: String
  /// What the last command has done; `nil` after none.
  var notice: PageNotice?

  /// Creates the markup around a page of a server.
  init(
    _ title: String,
    _ section: Section,
    _ frame: PageFrame,
    of server: ServerContext,
    notice: PageNotice? = nil
  ) {
    self.title = title
    self.section = section
    self.frame = frame
    allowsChanges = server.allowsChanges
    storePath = server.store.path
    self.notice = notice
  }

  /// The document up to the content.
  var beginning: HTML {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8">\
    <meta name="viewport" content="width=device-width, initial-scale=1">\
    <meta name="color-scheme" content="light dark">\
    <title>\(title) · dlstore</title>\
    \(HTML.style)\
    <link rel="icon" href="\(PageAssets.icon.path)" type="image/svg+xml">\
    <script type="module" src="\(PageAssets.script.path)"></script></head>
    <body>\(Icon.sprite)<a class="skip" href="#main">Skip to the content</a>
    <header class="bar"><div class="frame"><a class="brand" href="/">\(Icon.logo.html) dlstore</a>\
    <nav aria-label="Pages">\(link("/", "Downloads", .downloads))\(link("/store", "Store", .store))\
    </nav>\(engineState)</div></header>
    <main class="frame" id="main" tabindex="-1" data-after="\(frame.position)">\(notice?.html)
    """
  }

  /// The document after the content.
  var end: HTML {
    """

    <footer><span>\(storePath)</span><span>\(advice)</span>\
    <span data-only="script" hidden>Press <kbd>?</kbd> for the keyboard shortcuts</span>\
    <span data-live></span></footer></main></body></html>
    """
  }

  private func link(_ address: String, _ text: String, _ section: Section) -> HTML {
    "<a href=\"\(address)\"\(" aria-current=\"page\"", if: section == self.section)>\(text)</a>"
  }

  private var advice: String {
    allowsChanges
      ? "Commands of this page work as those of dlstore"
      : "This page changes nothing: to allow commands, start dlstore serve with --allow-changes"
  }

  private var engineState: HTML {
    EngineState(engine: frame.engine).html
  }
}

/// Whether an engine runs, in the header of each page.
struct EngineState {
  /// The process whose engine runs; `nil` if none does.
  let engine: String?

  var html: HTML {
    guard let engine else {
      return """
        <div class="engine" id="engine" data-engine="false">\(Icon.engine.html)<span>\
        <strong>No engine runs</strong> · <code>dlstore run</code> starts one</span></div>
        """
    }
    return """
      <div class="engine runs" id="engine" data-engine="true">\(Icon.engine.html)<span>\
      <strong>An engine runs</strong> · \(engine)</span></div>
      """
  }
}

/// An error in the place of what it concerns.
struct PageAlert {
  /// A sentence without a full stop.
  let text: String

  var html: HTML {
    """
    <div class="body"><div class="notice bad" role="alert"><span>\(PageText.capitalized(text)).\
    </span></div></div>
    """
  }
}

/// A file that pages load; its address changes with its content.
struct PageAsset: Sendable {
  let path: String
  let type: String
  let bytes: [UInt8]

  init(_ name: String, _ kind: String, _ type: String, _ bytes: [UInt8]) {
    // FNV-1a: it need only change with the content.
    let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    path = "/assets/\(name)-\(String(hash, radix: 16)).\(kind)"
    self.type = type
    self.bytes = bytes
  }
}

/// The files that pages load, which are in the program.
enum PageAssets {
  static let script = PageAsset(
    "page",
    "js",
    "text/javascript; charset=utf-8",
    PackageResources.page_js
  )
  static let icon = PageAsset("icon", "svg", "image/svg+xml", PackageResources.icon_svg)

  static let all = [script, icon]
}
