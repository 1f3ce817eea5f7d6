/// A condition on one field: how a record is tested, and what an index can say before.
struct FieldCondition: Sendable {
  /// The field's position in the schema.
  var position: Int
  var test: FieldTest
  /// Every object that meets the condition has an index key of this kind; `nil` when no index helps.
  var keys: KeyCondition?

  /// The test of a record.
  func makeTest() -> @Sendable (borrowing RecordView) throws(RecordError) -> Bool {
    let position = position
    switch test {
    case .isPresent(let wanted):
      return { record throws(RecordError) in
        guard case .present = unsafe try record.content(at: position) else { return !wanted }
        return wanted
      }
    case .number(let number):
      return { record throws(RecordError) in
        guard case .present(let bytes) = unsafe try record.content(at: position) else {
          return false
        }
        guard bytes.count == number.form.width, let base = bytes.baseAddress else {
          throw RecordError(.truncated, field: record.name(at: position))
        }
        return unsafe number.matches(base)
      }
    case .value(let test):
      return { record throws(RecordError) in
        guard case .present(let bytes) = unsafe try record.content(at: position) else {
          return false
        }
        do throws(RecordError) {
          return unsafe try test(bytes)
        } catch {
          throw RecordError(error.code, field: record.name(at: position))
        }
      }
    }
  }
}

/// The test of one field's bytes.
///
/// `nil`, and a field that the record does not have, meet none but the one that asks for it.
@safe  // The closure is lent bytes for the time of the call.
enum FieldTest: Sendable {
  /// Whether there is a value.
  case isPresent(Bool)
  /// A number in a range.
  case number(NumberTest)
  case value(@Sendable (UnsafeRawBufferPointer) throws(RecordError) -> Bool)

  /// Whether a value that is there passes.
  func matches(_ bytes: UnsafeRawBufferPointer) throws(RecordError) -> Bool {
    switch self {
    case .isPresent(let wanted): return wanted
    case .number(let number):
      guard bytes.count == number.form.width, let base = bytes.baseAddress else {
        throw RecordError(.truncated)
      }
      return unsafe number.matches(base)
    case .value(let test): return unsafe try test(bytes)
    }
  }
}
