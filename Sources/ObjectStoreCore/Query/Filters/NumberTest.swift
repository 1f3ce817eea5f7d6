extension NumberForm {
  /// Creates the form of a sort column; `nil` when its values are not numbers.
  init?(_ order: ColumnOrder) {
    guard let width = order.width, [1, 2, 4, 8].contains(width), order.form != .text else {
      return nil
    }
    self.init(width: width, form: order.form)
  }
}

/// A test whether a number lies in a range or is one of a list.
struct NumberTest: Sendable {
  let form: NumberForm
  /// The least word and the width of the range: one subtraction and one comparison test both
  /// bounds.
  private let least: UInt64
  private let span: UInt64
  /// The accepted words, sorted; when empty, every word in the range is accepted.
  private let values: [UInt64]
  private let isNegated: Bool

  init(_ form: NumberForm, in range: ClosedRange<UInt64>, isNegated: Bool = false) {
    self.form = form
    least = range.lowerBound
    span = range.upperBound - range.lowerBound
    values = []
    self.isNegated = isNegated
  }

  /// - Precondition: `values` are sorted and not empty.
  init(_ form: NumberForm, oneOf values: [UInt64]) {
    self.form = form
    least = values[0]
    span = values[values.count - 1] - values[0]
    self.values = values.count == 1 ? [] : values
    isNegated = false
  }

  @inline(__always)
  func matches(_ base: UnsafeRawPointer) -> Bool {
    unsafe matches(word: form.word(base))
  }

  @inline(__always)
  func matches(word: UInt64) -> Bool {
    let isInside = word &- least <= span
    if values.isEmpty { return isInside != isNegated }
    return isInside && hasValue(word)
  }

  private func hasValue(_ word: UInt64) -> Bool {
    var range = 0..<values.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      if values[middle] == word { return true }
      range = values[middle] < word ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return false
  }

  /// Tests a field of up to 32 records that lie `stride` bytes apart, starting at `base`.
  ///
  /// Bit n of the result is set when the nth record passes.
  func mask(
    _ base: UnsafeRawPointer,
    stride: Int,
    count: Int,
    place: FieldPlace
  ) -> UInt32 {
    let field = unsafe base + place.offset
    guard values.isEmpty else {
      return Self.collect(count) { unsafe matches(field + $0 * stride) }
    }
    // The most common forms have branch-free loops of their own.
    let (least, span, flip) = (least, span, isNegated)
    if form.width == 8, form.form == .signed {
      let sign = form.sign
      return Self.collect(count) { index in
        let bits = unsafe (field + index * stride).loadUnaligned(as: UInt64.self)
        return ((UInt64(littleEndian: bits) ^ sign) &- least <= span) != flip
      }
    }
    if form.width == 8, form.form == .number {
      let number = form
      return Self.collect(count) { index in
        let bits = unsafe (field + index * stride).loadUnaligned(as: UInt64.self)
        return (number.word(bits: UInt64(littleEndian: bits)) &- least <= span) != flip
      }
    }
    return Self.collect(count) { unsafe matches(field + $0 * stride) }
  }

  @inline(__always)
  private static func collect(_ count: Int, _ test: (Int) -> Bool) -> UInt32 {
    var mask: UInt32 = 0
    for index in 0..<count { mask |= (test(index) ? 1 : 0) << UInt32(index) }
    return mask
  }
}

// MARK: Columns

extension NumberTest {
  /// Tests the values of a column chunk, which lie next to each other, and returns the slots of
  /// those that pass.
  ///
  /// The loops over the values have no call and no branch per value.
  func mask(_ base: UnsafeRawPointer, width: Int) -> ColumnMask {
    guard values.isEmpty else {
      return Self.collectSlots { unsafe matches(word: form.word(base + $0 * width)) }
    }
    switch width {
    case 8: return unsafe mask(base, as: UInt64.self)
    case 4: return unsafe mask(base, as: UInt32.self)
    case 2: return unsafe mask(base, as: UInt16.self)
    default: return unsafe mask(base, as: UInt8.self)
    }
  }

  @inline(__always)
  private func mask<Bits: FixedWidthInteger & UnsignedInteger>(
    _ base: UnsafeRawPointer,
    as type: Bits.Type
  ) -> ColumnMask {
    let (least, span) = (Bits(truncatingIfNeeded: least), Bits(truncatingIfNeeded: span))
    let size = MemoryLayout<Bits>.size
    let sign = (1 as Bits) << (Bits.bitWidth - 1)
    let found: ColumnMask
    switch form.form {
    case .signed:
      // Inverting the sign of the number and subtracting the least word is one subtraction.
      let offset = least ^ sign
      found = Self.collectSlots { slot in
        let bits = unsafe (base + slot * size).loadUnaligned(as: Bits.self)
        return Bits(littleEndian: bits) &- offset <= span
      }
    case .number:
      found = Self.collectSlots { slot in
        let stored = unsafe (base + slot * size).loadUnaligned(as: Bits.self)
        let bits = Bits(littleEndian: stored)
        // All bits of a negative number are inverted, the sign of others; 0 and -0 are equal.
        let isNegative = bits > sign
        let word = isNegative ? ~bits : bits | sign
        return word &- least <= span
      }
    case .plain, .unsigned, .text:
      found = Self.collectSlots { slot in
        let bits = unsafe (base + slot * size).loadUnaligned(as: Bits.self)
        return Bits(littleEndian: bits) &- least <= span
      }
    }
    return isNegated ? ColumnMask.all.subtracting(found) : found
  }

  /// Returns the slots that pass, 64 of them at a time.
  @inline(__always)
  private static func collectSlots(_ test: (Int) -> Bool) -> ColumnMask {
    var mask = ColumnMask.none
    for index in 0..<4 {
      let count = min(64, ColumnChunk.slotCount - index * 64)
      var word: UInt64 = 0
      for bit in 0..<count { word |= (test(index * 64 + bit) ? 1 : 0) &<< UInt64(bit) }
      mask.words[index] = word
    }
    return mask
  }
}
