/// The page of a request that has failed.
struct ErrorView {
  let error: ServerError

  /// The whole document.
  func page(_ frame: PageFrame, _ server: ServerContext) -> HTML {
    let shell = PageShell(title, .none, frame, of: server)
    return "\(shell.beginning)\(html)\(shell.end)"
  }

  private var title: String { error.code == .notFound ? "Not found" : "The request failed" }

  private var html: HTML {
    """
    <div class="lead"><h1>\(title)</h1></div>
    <section class="card"><div class="empty">\(Icon.warning.html)\
    <strong>\(PageText.capitalized(error.message)).</strong>\
    <span><a href="/">Show the list of downloads</a></span></div></section>
    """
  }
}
