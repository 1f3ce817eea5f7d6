internal import DownloadReports
internal import DownloadStore
internal import ProgramOutput

/// The page that asks before downloads are removed.
struct RemoveView {
  let records: [DownloadRecord]
  let back: String

  var html: HTML {
    let hasFile = records.contains { $0.state == .completed }
    return """
      <div class="lead"><div><p class="small"><a href="/">Downloads</a></p>\
      <h1>Remove \(PageText.count(records.count, "download"))?</h1></div></div>
      <form class="card narrow" method="post" action="/remove"><div class="body stack">\
      <p>Partial files and records are deleted. This cannot be undone.</p>\
      \(RecordNames(records: records).html)\
      <input type="hidden" name="back" value="\(back)">\
      \(withFile, if: hasFile)\
      <div class="actions"><button class="danger" data-key="remove">\(Icon.trash.html) Remove</button>\
      <a class="button" href="\(back)">Keep</a></div></div></form>
      """
  }

  private var withFile: HTML {
    """
    <label class="check"><input type="checkbox" name="file" value="1"> Delete the finished files, too, if \
    they are still the downloaded ones</label>
    """
  }
}

/// The page that changes properties of downloads, as `dlstore set`.
struct ChangeView {
  let records: [DownloadRecord]
  let back: String

  var html: HTML {
    """
    <div class="lead"><div><p class="small"><a href="/">Downloads</a></p>\
    <h1>Change \(PageText.count(records.count, "download"))</h1></div></div>
    <form class="card narrow" method="post" action="/change"><div class="body stack">\
    \(RecordNames(records: records).html)\
    <input type="hidden" name="back" value="\(back)">\
    <p class="muted">Only the fields that you fill in are changed.</p>\
    \(records.count == 1 ? own(records[0]) : "")\
    <div class="fields">\
    \(field("tag", "Add tags, separated by commas"))\(field("untag", "Remove tags"))\
    \(field("type", "Type"))\(field("priority", "Priority"))</div><div class="fields">\
    \(field("limit", "Rate limit, such as 500K, or none"))\
    \(field("connections", "Connections, or none"))</div>\
    <div class="actions"><button class="primary" data-key="change">Change</button>\
    <a class="button" href="\(back)">Back</a></div></div></form>
    """
  }

  private func own(_ record: DownloadRecord) -> HTML {
    """
    <div class="fields"><div class="field wide"><label for="change-filename">File name</label>\
    <input type="text" id="change-filename" name="filename" placeholder="\(record.filename)" \
    autocomplete="off"></div>\
    <div class="field wide"><label for="change-url">New URL, for a link that has expired; the bytes on \
    disk are kept</label><input type="text" id="change-url" name="url" inputmode="url" \
    placeholder="\(Redaction.url(record.url))" autocomplete="off"></div></div>
    """
  }

  private func field(_ name: String, _ title: String) -> HTML {
    """
    <div class="field wide"><label for="change-\(name)">\(title)</label>\
    <input type="text" id="change-\(name)" name="\(name)" autocomplete="off"></div>
    """
  }
}

/// The names of the downloads of a form, with their ids as its fields.
private struct RecordNames {
  let records: [DownloadRecord]

  var html: HTML {
    let shown = records.prefix(20).map { record -> HTML in "<li><bdi>\(record.filename)</bdi></li>"
    }
    let more: HTML? =
      records.count > 20 ? "<li>and \(PageText.number(records.count - 20)) more</li>" : nil
    let ids = records.map { record -> HTML in
      "<input type=\"hidden\" name=\"id\" value=\"\(record.id)\">"
    }
    return "<ul>\(shown)\(more)</ul>\(ids)"
  }
}
