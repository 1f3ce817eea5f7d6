internal import DownloadStore
internal import ObjectStore
internal import ProgramOutput

/// The objects of a model that meet conditions, as the address of the page states them.
struct StoreModelQuery: Sendable, Hashable {
  /// The number of objects on a page.
  static let size = 50
  /// The number at which a count stops.
  static let maximumCount = 10_000

  /// Conditions, each such as `state=waiting`, separated by semicolons or line feeds.
  var conditions = ""
  /// `FIELD` or `FIELD:desc`; empty for the stored order.
  var order = ""
  /// The name of a parameter that the page does not understand; `nil` if it understands all.
  private(set) var unknown: String?

  init() {}

  init(_ fields: FormFields) {
    conditions = fields.values("where").joined(separator: "; ")
    order = fields["sort"] ?? ""
    unknown = fields.fields.first { !["where", "sort", "notice"].contains($0.name) }?.name
  }

  /// The conditions, one by one.
  var conditionTexts: [String] {
    conditions.split(whereSeparator: { $0 == ";" || $0.isNewline })
      .map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
      .filter { !$0.isEmpty }
  }

  /// Returns the conditions on the fields of a model.
  ///
  /// - Throws: `CommandFailure` for a condition that is none of the model.
  func storedConditions(in model: StoredModel) throws -> [StoredCondition] {
    try conditionTexts.map { text in
      guard let condition = FieldCondition(text) else {
        throw CommandFailure(
          .usage,
          "'\(text)' is not a condition: write FIELD=VALUE, or another operator"
        )
      }
      return try condition.resolved(in: model)
    }
  }

  /// Returns the order; `nil` for the stored one.
  ///
  /// - Throws: `CommandFailure` for an order that is none of the model.
  func storedOrder(in model: StoredModel) throws -> StoredOrder? {
    guard !order.isEmpty else { return nil }
    guard let option = StoredOrderOption(order) else {
      throw CommandFailure(.usage, "'\(order)' is not an order: write FIELD or FIELD:desc")
    }
    return StoredOrder(
      fieldID: try model.field(named: option.field).id,
      direction: option.isDescending ? .descending : .ascending
    )
  }
}

/// A page of the objects of a model.
struct StoreModelPage: Sendable {
  var query: StoreModelQuery
  var model: StoredModel
  var objects: [StoredObject] = []
  /// The number of matches, at most ``StoreModelQuery/maximumCount``.
  var count = 0
  /// Whether counting stopped.
  var isCountPartial = false
  var plan = ""
  /// Why the query cannot be run, as a sentence; `nil` if it was.
  var problem: String?
  /// The target of each field that is a reference, by the field's id.
  var targets: [UInt32: String] = [:]
  private var conditions: [StoredCondition] = []
  private var order: StoredOrder?

  /// Reads the model and the plan of the query, which needs no search.
  ///
  /// - Throws: `CommandFailure` for an unknown model; `StoreError`.
  init(_ query: StoreModelQuery, model name: String, in store: Store) throws {
    self.query = query
    model = try store.storedModel(named: name)
    targets = try Self.targets(of: name, in: store)
    if let unknown = query.unknown {
      problem = "there is no parameter '\(unknown)': use 'where' and 'sort'"
      return
    }
    do {
      conditions = try query.storedConditions(in: model)
      order = try query.storedOrder(in: model)
    } catch let failure as CommandFailure {
      problem = failure.message ?? "the query cannot be run"
      return
    }
    plan = try store.explainStoredObjects(of: name, where: conditions, order: order).description
  }

  /// Searches the objects, unless the query cannot be run.
  ///
  /// - Throws: `StoreError`.
  mutating func readObjects(in store: Store) throws {
    guard problem == nil else { return }
    if conditions.isEmpty {
      count = model.objectCount
    } else {
      count = try store.countStoredObjects(
        of: model.name,
        where: conditions,
        limit: StoreModelQuery.maximumCount + 1
      )
      isCountPartial = count > StoreModelQuery.maximumCount
      count = min(count, StoreModelQuery.maximumCount)
    }
    try store.forEachStoredObject(
      of: model.name,
      where: conditions,
      order: order,
      limit: StoreModelQuery.size
    ) { object in
      objects.append(object)
      return true
    }
  }

  static func targets(of model: String, in store: Store) throws -> [UInt32: String] {
    let rules = try store.storedReferences().filter { $0.model == model }
    return Dictionary(rules.map { ($0.fieldID, $0.target) }) { first, _ in first }
  }
}

/// The page of a model: its fields and its objects.
struct StoreModelView: Sendable {
  /// The number of fields in the table of objects.
  static let shownFields = 8

  var page: StoreModelPage

  private var model: StoredModel { page.model }
  private var address: String { "/store/\(FormFields.encoded(model.name))" }

  /// The page, whose objects are searched after its form was sent.
  var parts: [PagePart] {
    [
      .ready(beginning),
      .read { store in
        var view = self
        try view.page.readObjects(in: store.objects)
        return view.objects
      },
      .ready("</section>\(fields)"),
    ]
  }

  private var beginning: HTML {
    """
    <div class="lead"><div><p class="small"><a href="/store">Store</a></p><h1>\(model.name)</h1></div>\
    <p>\(PageText.count(model.objectCount, "object"))</p></div>
    <section class="card" aria-labelledby="objects">\(form)
    """
  }

  private var form: HTML {
    let names = model.fields.map { "<option value=\"\($0.name)\"></option>" as HTML }
    return """
      <header><h2 id="objects">Objects</h2>\
      <form class="fields" method="get" action="\(address)">\
      <div class="field wide"><label for="where">Conditions, such as \
      <code>\(example)</code>; with = != &lt; &lt;= &gt; &gt;= ~ (contains) ^= (begins with), \
      separated by semicolons</label>\
      <input type="text" id="where" class="mono" name="where" value="\(page.query.conditions)" \
      autocomplete="off" spellcheck="false"></div>\
      <div class="field half"><label for="sort">Order: FIELD or FIELD:desc</label>\
      <input type="text" id="sort" class="mono" name="sort" list="field-names" \
      value="\(page.query.order)" autocomplete="off" spellcheck="false">\
      <datalist id="field-names">\(names)</datalist></div><button>Apply</button></form></header>
      """
  }

  private var example: String {
    guard let field = model.fields.first(where: { $0.type == .string && !$0.isPrimaryKey }) else {
      return "\(model.fields.first?.name ?? "field")=1"
    }
    return "\(field.name)~text"
  }

  /// The plan of the query and its objects.
  var objects: HTML {
    if let problem = page.problem { return PageAlert(text: problem).html }
    let plan: HTML = """
      <div class="body small"><span class="muted">Plan: </span><code>\(page.plan)</code>\
      <span class="muted"> · \(countText)</span></div>\
      <div class="body small actions"><span class="muted">Export all matches</span>\
      \(StoreExport.Format.allCases.map(exportLink))</div>
      """
    guard !page.objects.isEmpty else {
      return """
        \(plan)<div class="empty">\(Icon.store.html)<strong>No object matches</strong>\
        <span><a href="\(address)">Show all objects</a></span></div>
        """
    }
    let shown = Array(model.fields.prefix(Self.shownFields))
    let heads = shown.map { "<th scope=\"col\">\($0.name)</th>" as HTML }
    let rows = page.objects.map { object in row(object, shown) }
    return """
      \(plan)<div class="scroll" tabindex="0" role="group" aria-labelledby="objects">\
      <table class="data objects"><caption class="hidden-label">Objects of \(model.name)</caption>\
      <thead><tr>\(heads)</tr></thead><tbody>\(rows)</tbody></table></div>
      """
  }

  private func exportLink(_ format: StoreExport.Format) -> HTML {
    var fields = FormFields()
    fields.add("format", format.rawValue)
    if !page.query.conditions.isEmpty { fields.add("where", page.query.conditions) }
    if !page.query.order.isEmpty { fields.add("sort", page.query.order) }
    return "<a class=\"button\" href=\"\(address)/export?\(fields.encoded)\">\(format.title)</a>"
  }

  private var countText: String {
    let shown = page.objects.count
    guard !page.isCountPartial else {
      return
        "more than \(PageText.number(StoreModelQuery.maximumCount)) matches; the first \(shown) are shown"
    }
    return page.count > shown
      ? "\(PageText.number(page.count)) matches; the first \(shown) are shown"
      : PageText.count(page.count, "match").replacing("matchs", with: "matches")
  }

  private func row(_ object: StoredObject, _ shown: [StoredModel.Field]) -> HTML {
    let cells = shown.map { field -> HTML in
      let value = object.fields.first { $0.id == field.id }?.value ?? .null
      let text = StoredValueText.short(value)
      guard field.isPrimaryKey else { return "<td><bdi>\(text)</bdi></td>" }
      return """
        <th scope="row"><a href="\(address)?object=\(object.id)"><bdi>\(text)</bdi></a></th>
        """
    }
    return "<tr>\(cells)</tr>"
  }

  private var fields: HTML {
    let rows = model.fields.map { field -> HTML in
      let indexes = model.indexes.filter { $0.fields.contains(field.id) }
      var uses: [String] = []
      if field.isPrimaryKey { uses.append("primary key") }
      if !indexes.isEmpty { uses.append("indexed") }
      if field.isHot { uses.append("hot") }
      if model.columns.contains(field.id) { uses.append("column") }
      let target = page.targets[field.id].map { target -> HTML in
        "<a href=\"/store/\(FormFields.encoded(target))\">\(target)</a>"
      }
      return """
        <tr><th scope="row">\(field.name)</th><td class="mono">\("\(field.type)")\
        \(field.isOptional ? "?" : "")</td>\
        <td>\(uses.joined(separator: ", "))</td><td>\(target)</td></tr>
        """
    }
    return """
      <section class="card" aria-labelledby="fields"><header><h2 id="fields">Fields</h2>\
      \(StoreOverviewView.indexes(of: model))</header>\
      <div class="scroll" tabindex="0" role="group" aria-labelledby="fields"><table class="data">\
      <caption class="hidden-label">Fields of \(model.name)</caption><thead><tr>\
      <th scope="col">Field</th><th scope="col">Type</th><th scope="col">Use</th>\
      <th scope="col">Refers to</th></tr></thead><tbody>\(rows)</tbody></table></div></section>
      """
  }
}

/// The page of one object.
struct StoreObjectView: Sendable {
  let object: StoredObject
  let model: StoredModel
  /// The target of each field that is a reference, by the field's id.
  let targets: [UInt32: String]
  /// The fields of all models that may refer to this object: the model and the name of the field.
  let referrers: [(model: String, field: String)]

  /// Reads an object, named by its id (`object`) or its primary key (`key`).
  ///
  /// - Throws: ``ServerError`` if there is none; `CommandFailure`; `StoreError`.
  init(_ fields: FormFields, model name: String, in store: Store) throws {
    let model = try store.storedModel(named: name)
    var found: StoredObject?
    if let id = fields["object"].flatMap(UInt64.init) {
      try store.forEachStoredObject(of: name, from: id) { object in
        if object.id == id { found = object }
        return false
      }
    } else if let key = fields["key"] {
      found = try store.storedObject(of: name, keyText: key).object
    }
    guard let found else { throw ServerError(.notFound, "\(name) has no such object") }
    object = found
    self.model = model
    targets = try StoreModelPage.targets(of: name, in: store)
    let models = try store.storedModels()
    referrers = try store.storedReferences().filter { $0.target == name }.compactMap { rule in
      models.first { $0.name == rule.model }?.fields.first { $0.id == rule.fieldID }
        .map { (rule.model, $0.name) }
    }
  }

  var html: HTML {
    let key = object.fields.first { field in
      model.fields.contains { $0.id == field.id && $0.isPrimaryKey }
    }
    let rows = object.fields.map { field -> (String, HTML) in (field.name, value(of: field)) }
    return """
      <div class="lead"><div><p class="small"><a href="/store">Store</a> › \
      <a href="/store/\(FormFields.encoded(model.name))">\(model.name)</a></p>\
      <h1><bdi>\(key.map { StoredValueText.short($0.value) } ?? "")</bdi></h1></div></div>
      <section class="card" aria-label="Fields">\(FactTable(rows: rows).html)</section>\
      \(links(to: key?.value))
      """
  }

  private func value(of field: StoredObject.Field) -> HTML {
    guard !field.value.isNull else { return "<span class=\"muted\">none</span>" }
    guard let target = targets[field.id] else {
      return "<bdi class=\"mono\">\(StoredValueText.long(field.value))</bdi>"
    }
    let keys: [StoredValue] =
      switch field.value {
      case .array(let elements), .set(let elements): elements
      default: [field.value]
      }
    let links = keys.prefix(100).map { key -> HTML in
      guard let address = StoredValueText.address(of: target, key: key) else {
        return "<span class=\"chip\">\(target) \(StoredValueText.short(key))</span>"
      }
      return "<a class=\"chip\" href=\"\(address)\">\(target) \(StoredValueText.short(key))</a>"
    }
    return "<span class=\"chips\">\(Array(links))</span>"
  }

  /// Links to the objects that refer to this one, which are read on demand.
  private func links(to key: StoredValue?) -> HTML? {
    guard let key, !referrers.isEmpty, !StoredValueText.hasSecret(key) else { return nil }
    let links = referrers.map { referrer -> HTML in
      var fields = FormFields()
      fields.add("where", "\(referrer.field)=\(StoredValueText.exact(key))")
      return """
        <a class="button" href="/store/\(FormFields.encoded(referrer.model))?\(fields.encoded)">\
        \(referrer.model) by \(referrer.field)</a>
        """
    }
    return """
      <section class="card" aria-labelledby="referrers"><header>\
      <h2 id="referrers">Objects that refer to this one</h2></header>\
      <div class="body actions">\(links)</div></section>
      """
  }
}

/// Stored values as text, with the secrets of URLs and of names such as keys redacted.
enum StoredValueText {
  /// One line of at most 80 characters.
  static func short(_ value: StoredValue) -> String {
    let text = long(value)
    return text.count > 80 ? text.prefix(79) + "…" : text
  }

  /// The whole value; data is shown by its size.
  static func long(_ value: StoredValue) -> String {
    switch value {
    case .string(let text): Redaction.name(text)
    case .data(let data), .embedded(let data): "\(PageText.number(data.count)) bytes"
    case .array(let elements), .set(let elements): elements.map(long).joined(separator: ", ")
    case .dictionary(let entries):
      entries.map { "\(long($0.key)): \(long($0.value))" }.joined(separator: ", ")
    default: StoredObjectOutput.text(value)
    }
  }

  /// The value as a condition and an address have it.
  static func exact(_ value: StoredValue) -> String { StoredObjectOutput.text(value) }

  /// Whether the value has a secret, and is therefore in no address.
  static func hasSecret(_ value: StoredValue) -> Bool {
    Redaction.name(exact(value)) != exact(value)
  }

  /// The address of an object; `nil` if its key has a secret.
  static func address(of model: String, key: StoredValue) -> String? {
    guard !hasSecret(key) else { return nil }
    var fields = FormFields()
    fields.add("key", exact(key))
    return "/store/\(FormFields.encoded(model))?\(fields.encoded)"
  }
}
