internal import CommandLineSupport
internal import DownloadReports

/// The column in a table.
extension RecordColumn {
  /// Returns the column of a table; `importance` overrides the order in which columns are dropped.
  func tableColumn(importance: Int? = nil) -> TableOutput.Column {
    var column = TableOutput.Column(title: title, isAlignedRight: isNumber)
    switch self {
    case .id:
      // A unique prefix names a download, too.
      column.minimumWidth = 8
      column.hasEllipsis = false
    case .filename: column.minimumWidth = 16
    case .url, .displayURL: column.minimumWidth = 24
    case .state: column.color = TerminalColor.ofState
    default: break
    }
    column.importance = importance ?? defaultImportance
    return column
  }

  /// The importance in the default table: the URL is dropped first, the name last.
  private var defaultImportance: Int {
    let order: [RecordColumn] = [
      .url, .fileStatus, .received, .expected, .id, .fraction, .state, .filename,
    ]
    return order.firstIndex(of: self) ?? 0
  }

  private var title: String {
    switch self {
    case .fraction: return "DONE"
    case .expected: return "SIZE"
    case .fileStatus: return "FILE"
    case .filename: return "NAME"
    case .displayURL: return "URL"
    default:
      return rawValue.reduce(into: "") { title, character in
        if character.isUppercase { title += " " }
        title += character.uppercased()
      }
    }
  }

  private var isNumber: Bool {
    switch self {
    case .received, .expected, .fraction, .resumeReceived, .priority, .attempts, .limitRate,
      .connections:
      true
    default: false
    }
  }
}
