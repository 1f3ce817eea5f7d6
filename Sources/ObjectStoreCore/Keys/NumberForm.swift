/// The mapping of a stored number to an unsigned word that sorts as the number does.
///
/// ``KeyEncoding`` writes the word in big-endian order.
package struct NumberForm: Sendable, Hashable {
  /// The width in bytes: 1, 2, 4 or 8.
  let width: Int
  let form: KeyEncoding.Form

  init(width: Int, form: KeyEncoding.Form) {
    self.width = width
    self.form = form
  }

  /// Creates the form of a field type; `nil` when its values are not numbers.
  init?(_ type: FieldType) {
    switch type {
    case .bool, .signed, .unsigned, .float, .double, .date: break
    default: return nil
    }
    width = type.width ?? 0
    form = type.keyForm
  }

  var sign: UInt64 { 1 << UInt64(width * 8 - 1) }
  var mask: UInt64 { .max >> UInt64(64 - width * 8) }

  /// Returns the word of the number stored at an address.
  @inline(__always)
  func word(_ base: UnsafeRawPointer) -> UInt64 {
    unsafe word(bits: bits(base))
  }

  /// Returns the integer with the given bits.
  ///
  /// - Precondition: The form is an integer form.
  @inline(__always)
  func integer(_ bits: UInt64) -> Int128 {
    guard form == .signed else { return Int128(bits) }
    let shift = UInt64(64 - width * 8)
    return Int128(Int64(bitPattern: bits << shift) >> Int64(shift))
  }

  /// Returns the floating-point number with the given bits.
  ///
  /// - Precondition: The form is one of floating-point numbers.
  @inline(__always)
  func fraction(_ bits: UInt64) -> Double {
    width == 8
      ? Double(bitPattern: bits) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
  }

  /// Returns the bits of the number stored at an address.
  @inline(__always)
  func bits(_ base: UnsafeRawPointer) -> UInt64 {
    switch width {
    case 8: unsafe UInt64(littleEndian: base.loadUnaligned(as: UInt64.self))
    case 4: unsafe UInt64(UInt32(littleEndian: base.loadUnaligned(as: UInt32.self)))
    case 2: unsafe UInt64(UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)))
    default: unsafe UInt64(base.load(as: UInt8.self))
    }
  }

  @inline(__always)
  func word(bits: UInt64) -> UInt64 {
    if form == .signed { return bits ^ sign }
    guard form == .number else { return bits }
    // 0 and -0 are equal, so they have the same word.
    if bits == sign { return sign }
    return bits & sign == 0 ? bits | sign : ~bits & mask
  }

  /// Returns the word of a value.
  func word(of value: some FieldValue) -> UInt64 {
    unsafe value.storedBytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, bytes.count == width else { return 0 }
      return unsafe word(base)
    }
  }

  /// Returns the stored bytes of the integer with the given word.
  func storedBytes(ofWord word: UInt64) -> [UInt8] {
    let bits = form == .signed ? word ^ sign : word
    return (0..<width).map { UInt8(truncatingIfNeeded: bits >> UInt64($0 * 8)) }
  }

  /// The words of all values except NaN.
  var comparable: ClosedRange<UInt64> {
    guard form == .number else { return 0...mask }
    let infinity: UInt64 = width == 8 ? 0x7FF0_0000_0000_0000 : 0x7F80_0000
    return word(bits: infinity | sign)...word(bits: infinity)
  }

  /// Returns the index key of a word.
  func key(_ word: UInt64) -> [UInt8] {
    var key: [UInt8] = [1]
    for index in stride(from: width - 1, through: 0, by: -1) {
      key.append(UInt8(truncatingIfNeeded: word >> UInt64(index * 8)))
    }
    return key
  }
}
