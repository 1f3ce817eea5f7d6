internal import DownloadStore
internal import SystemInterface

/// What a command of a page has done, which the page shows once.
struct PageNotice: Sendable, Hashable {
  /// How the notice looks.
  enum Kind: String, Sendable, Hashable { case good, warn, bad }

  /// A command that takes the last one back.
  struct Undo: Sendable, Hashable {
    var command: RowCommand
    /// The label of the button.
    var title: String
    /// The ids of the downloads.
    var ids: [String]
  }

  var kind = Kind.good
  /// What happened, as sentences.
  var text: String
  var undo: Undo?
  /// The page to return to after an undo.
  var back = "/"

  /// The largest number of downloads that an undo names.
  static let maximumUndo = 1000

  var html: HTML {
    """
    <div class="notice \(kind.rawValue)" id="notice" role="status"><span>\(text)</span>\(button)</div>
    """
  }

  private var button: HTML? {
    guard let undo else { return nil }
    let fields = HTML(
      undo.ids.map { "<input type=\"hidden\" name=\"id\" value=\"\($0)\">" as HTML }
    )
    return """
      <form method="post" action="/commands"><input type="hidden" name="back" value="\(back)">\
      \(fields)<button name="do" value="\(undo.command.rawValue)">\(undo.title)</button></form>
      """
  }
}

/// The notices that pages have not shown yet, by the random names in their addresses.
final class PageNotices: Sendable {
  /// The number of notices that are kept.
  static let maximumCount = 64

  // A lock, because requests are answered on any thread.
  private let state = Mutex(State())

  private struct State {
    var notices: [String: PageNotice] = [:]
    var order: [String] = []
  }

  /// Keeps a notice.
  ///
  /// - Returns: Its name.
  func keep(_ notice: PageNotice) -> String {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    state.withLock { state in
      state.notices[name] = notice
      state.order.append(name)
      while state.order.count > Self.maximumCount {
        state.notices[state.order.removeFirst()] = nil
      }
    }
    return name
  }

  /// Returns the notice with a name; `nil` if it is not kept any more.
  ///
  /// It stays, because a browser may read a page twice.
  func notice(named name: String) -> PageNotice? { state.withLock { $0.notices[name] } }
}
