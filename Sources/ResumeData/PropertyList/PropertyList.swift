/// A value of Apple's property lists, in XML or binary, with what keyed archives add to them.
///
/// A value that was read is a tree of bounded size and depth (``PropertyListLimits``), so that
/// whatever walks over it ends soon. Nothing is turned into an object of a class.
public enum PropertyList: Sendable, Equatable {
  /// Nothing, which XML cannot hold.
  case null
  /// A truth value.
  case bool(Bool)
  /// A whole number; the binary format has up to 128 bits.
  case integer(Int128)
  /// A floating-point number.
  case real(Double)
  /// A time, in seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// Bytes.
  case data([UInt8])
  /// Text.
  case string(String)
  /// A reference of a keyed archive, to an object by its position; XML spells it `CF$UID`.
  case uid(UInt32)
  /// Values in an order.
  case array([PropertyList])
  /// Values without an order, kept as they were written; XML cannot hold them.
  case set([PropertyList])
  /// Values by their names.
  case dictionary(PropertyListDictionary)
}

extension PropertyList {
  /// The text, if the value is one.
  public var string: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The number, if the value is a whole one of at most 64 bits.
  public var integer: Int64? {
    guard case .integer(let value) = self else { return nil }
    return Int64(exactly: value)
  }

  /// The bytes, if the value is some.
  public var data: [UInt8]? {
    guard case .data(let value) = self else { return nil }
    return value
  }

  /// The position that a reference leads to, if the value is one.
  public var uid: UInt32? {
    guard case .uid(let value) = self else { return nil }
    return value
  }

  /// The elements, if the value is an array.
  public var array: [PropertyList]? {
    guard case .array(let values) = self else { return nil }
    return values
  }

  /// The members, if the value is a dictionary.
  public var dictionary: PropertyListDictionary? {
    guard case .dictionary(let value) = self else { return nil }
    return value
  }
}
