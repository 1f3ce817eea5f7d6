internal import ObjectStoreCore
internal import SystemInterface

/// Converts the records of an outdated layout with the steps of a migration.
///
/// A converted record has the fields of the program's layout in one part, whose memory belongs to
/// its view. It has no layout of the store, so a write of the object stores all of it again.
final class RecordConverter: Sendable {
  private let model: String
  private let plan: MigrationPlan
  private let template: MigratedObject.Template
  private let own: RecordLayout
  private let storesHotPart: Bool
  private let replacedFields: Set<UInt32>
  private let changedFields: UInt64
  // Held while the form of a converted object is looked up, which does not call a step.
  private let forms: Mutex<Forms>

  /// The forms that converted objects have had so far.
  private struct Forms {
    private var target: MigrationTarget
    private var forms: [Form] = []

    init(_ schema: ModelSchema, _ defaults: StoredDefaults) {
      target = MigrationTarget(declared: [schema], stored: [], defaults: [schema.name: defaults])
    }

    /// Returns an object as it is to be stored, and its form.
    mutating func form(
      of object: MigratedObject,
      _ source: MigrationOrigin,
      _ own: RecordLayout,
      storesHotPart: Bool
    ) throws -> (MigratedObject, Form) {
      let entry = try target.entry(object, from: source)
      let shapes = target.models[entry.model].shapes
      while forms.count < shapes.count {
        let shape = shapes[forms.count]
        let fields = shape.layout.fields.map { field in
          var field = field
          field.isHot = false
          return field
        }
        let binding = LayoutBinding(
          reading: RecordLayout(fields: fields, storage: own.storage),
          number: 0,
          as: own,
          storesHotPart: storesHotPart
        )
        forms.append(Form(binding: binding, positions: shape.positions))
      }
      return (entry.object, forms[entry.shape])
    }
  }

  /// A combination of fields.
  private struct Form {
    let binding: LayoutBinding
    /// The position in the object of each field of the layout.
    let positions: [Int]
  }

  /// - Parameters:
  ///   - schema: The model of the program.
  ///   - own: The layout of the program.
  ///   - layout: The outdated layout.
  ///   - version: The schema version of that layout, and the names of its fields.
  ///   - steps: The steps that follow it.
  ///   - defaults: The defaults that the store has for the fields of the model.
  init(
    _ schema: ModelSchema,
    own: RecordLayout,
    layout: RecordLayout,
    version: OutdatedLayouts.Version,
    steps: [MigrationStep],
    defaults: StoredDefaults
  ) {
    model = schema.name
    plan = MigrationPlan(steps: steps)
    template = MigratedObject.Template(layout, version: version)
    self.own = own
    storesHotPart = layout.hasHotFields
    let names = Set(
      steps.flatMap(\.operations).compactMap(\.changedFields)
        .flatMap { $0.model == schema.name ? $0.fields : [] }
    )
    replacedFields = Set(
      version.fields.filter(\.isChanged).flatMap { [$0.id, $0.originalID] }
    )
    changedFields = schema.fields.indices.filter { names.contains(schema.fields[$0].name) }
      .reduce(0) { $0 | FieldBit.ofField(at: $1) }
    forms = Mutex(Forms(schema, defaults))
  }

  /// The conversion as reading uses it.
  var conversion: RecordConversion {
    RecordConversion(replacedFields: replacedFields, changedFields: changedFields) { record, id in
      try self.convert(record, id)
    }
  }

  private func convert(_ record: borrowing RecordView, _ id: UInt64) throws -> RecordView {
    let origin = MigrationOrigin(object: try MigratedObject(record, model: model, template), id: id)
    do {
      let result = try plan.convert(origin.object)
      let (object, form) = try forms.withLock { forms in
        try forms.form(of: result, origin, own, storesHotPart: storesHotPart)
      }
      return RecordView(copying: Self.bytes(of: object, form), form.binding)
    } catch let failure as MigrationPlan.Failure {
      throw Self.error(MigrationFailure(origin, step: failure.step, failure.error))
    } catch {
      throw Self.error(MigrationFailure(origin, step: nil, error))
    }
  }

  private static func error(_ failure: MigrationFailure) -> StoreError {
    StoreError(.migrationFailed, "an object cannot be read: \(failure)", cause: failure)
  }

  /// Returns the bytes of a converted record.
  private static func bytes(of object: MigratedObject, _ form: Form) -> [UInt8] {
    let heapStart = form.binding.coldSize
    var bytes = [UInt8](repeating: 0, count: heapStart)
    for (place, position) in zip(form.binding.layout.places, form.positions) {
      if let content = object.bytes(of: object.fields[position]) {
        bytes[place.presenceOffset] |= place.presenceMask
        if place.isFixed {
          bytes.replaceSubrange(place.offset..<place.offset + content.count, with: content)
        } else {
          bytes += content
        }
      }
      guard !place.isFixed else { continue }
      let end = UInt32(bytes.count - heapStart)
      for byte in 0..<4 {
        bytes[place.offset + byte] = UInt8(truncatingIfNeeded: end >> UInt32(8 * byte))
      }
    }
    return bytes
  }
}

extension MigratedObject.Template {
  /// The fields of an outdated layout.
  init(_ layout: RecordLayout, version: OutdatedLayouts.Version) {
    self.init(
      layout,
      names: Dictionary(version.fields.map { ($0.id, $0.name) }) { first, _ in first },
      originalIDs: Dictionary(version.fields.map { ($0.id, $0.originalID) }) { first, _ in first }
    )
  }
}
