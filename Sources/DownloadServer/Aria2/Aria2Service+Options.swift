internal import DownloadStore
internal import ObjectStore

// The methods about options.

extension Aria2Service {
  /// `aria2.getOption`.
  func options(_ parameters: Aria2Parameters) throws -> JSONValue {
    let record = try record(parameters.string(0))
    return Aria2Options.object(
      of: record,
      headers: try store.headers(of: record),
      folder: try store.roots().possibleLayout(of: record).folderPath
    )
  }

  /// `aria2.changeOption`: changes what `dlstore set` can change.
  func changeOptions(_ parameters: Aria2Parameters) throws -> JSONValue {
    let record = try record(parameters.string(0))
    guard state(of: record)?.isStopped == false else {
      throw Aria2Error("Cannot change option for GID#\(record.id)")
    }
    let options = try Aria2Options(parameters.object(1), for: record.url)
    let folder = try store.roots().possibleLayout(of: record).folderPath
    var update = RecordUpdate()
    for name in options.names.sorted() {
      switch name {
      case "max-download-limit":
        update.bytesPerSecond = .some(options.bytesPerSecond.flatMap { $0 == 0 ? nil : $0 })
      case "split", "max-connection-per-server":
        update.connections = .some(options.connections(urlCount: 1 + record.mirrors.count))
      case "out":
        guard let out = options.name, !out.contains("/") else {
          throw Aria2Error("out: a download stays in its folder, so this must be a file name")
        }
        update.filename = out
      case "dir" where options.folder == folder, "pause", "auto-file-renaming", "gid": break
      default:
        throw Aria2Error(
          "\(name) cannot be changed: remove the download, and add it again with this option"
        )
      }
    }
    try store.updateNow(matching: record.url, with: update)
    return Self.done
  }

  /// `aria2.getGlobalOption`.
  func globalOptions() throws -> JSONValue {
    [
      "continue": .string("true"),
      "dir": .string(try store.roots().path(of: RootName.standard) ?? ""),
      "max-overall-download-limit": .string(String(try store.rateLimit() ?? 0)),
      "max-overall-upload-limit": .string("0"),
    ]
  }

  /// `aria2.changeGlobalOption`: changes the rate limit of the store.
  ///
  /// - Throws: ``Aria2Error`` for any other option; nothing has changed then.
  func changeGlobalOptions(_ parameters: Aria2Parameters) throws -> JSONValue {
    let members = try parameters.object(0)
    var limit: Int64?
    for member in members {
      guard let text = try Aria2Options.text(of: member.value, member.name) else { continue }
      guard member.name == "max-overall-download-limit" else {
        throw Aria2Error(
          "\(Redaction.argument(member.name)) cannot be changed here: it is an option of 'dlstore run'"
        )
      }
      limit = try Aria2Options.byteCount(text, member.name)
    }
    if let limit { try store.setRateLimit(limit == 0 ? nil : limit) }
    return Self.done
  }
}
