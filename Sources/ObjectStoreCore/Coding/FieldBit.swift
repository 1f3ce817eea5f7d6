/// The positions of fields in a bit set, by their positions in a program's schema.
package enum FieldBit {
  /// The bit of a field; fields from the 64th on share the highest one.
  package static func ofField(at position: Int) -> UInt64 { 1 << UInt64(min(position, 63)) }
}
