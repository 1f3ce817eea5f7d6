/// A value of Apple's property lists, including the references of keyed archives.
///
/// A decoded value is a tree of bounded size and depth (``PropertyListLimits``). No class is ever
/// instantiated.
package enum PropertyList: Sendable, Equatable {
  /// Null, which XML cannot represent.
  case null
  /// A Boolean.
  case bool(Bool)
  /// An integer; up to 128 bits in the binary format.
  case integer(Int128)
  /// A floating-point number.
  case real(Double)
  /// A date, in seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// Data.
  case data([UInt8])
  /// A string.
  case string(String)
  /// A keyed archive's reference to an object by position; `CF$UID` in XML.
  case uid(UInt32)
  /// An array.
  case array([PropertyList])
  /// A set, in the order in which it was written; XML cannot represent it.
  case set([PropertyList])
  /// A dictionary.
  case dictionary(PropertyListDictionary)
}

extension PropertyList {
  /// The string; `nil` for any other value.
  package var string: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The integer; `nil` for any other value and for more than 64 bits.
  package var integer: Int64? {
    guard case .integer(let value) = self else { return nil }
    return Int64(exactly: value)
  }

  /// The data; `nil` for any other value.
  package var data: [UInt8]? {
    guard case .data(let value) = self else { return nil }
    return value
  }

  /// The position of a reference; `nil` for any other value.
  package var uid: UInt32? {
    guard case .uid(let value) = self else { return nil }
    return value
  }

  /// The elements of an array; `nil` for any other value.
  package var array: [PropertyList]? {
    guard case .array(let values) = self else { return nil }
    return values
  }

  /// The members of a dictionary; `nil` for any other value.
  package var dictionary: PropertyListDictionary? {
    guard case .dictionary(let value) = self else { return nil }
    return value
  }
}
