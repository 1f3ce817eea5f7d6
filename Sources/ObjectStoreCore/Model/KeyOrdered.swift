#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A type whose `<` agrees with the order of its index keys, so that an index can serve ranges.
///
/// Enumerations do not conform: their `<` may differ from the order of their raw values.
protocol KeyOrdered {}

extension Int: KeyOrdered {}
extension Int8: KeyOrdered {}
extension Int16: KeyOrdered {}
extension Int32: KeyOrdered {}
extension Int64: KeyOrdered {}
extension UInt: KeyOrdered {}
extension UInt8: KeyOrdered {}
extension UInt16: KeyOrdered {}
extension UInt32: KeyOrdered {}
extension UInt64: KeyOrdered {}
extension Float: KeyOrdered {}
extension Double: KeyOrdered {}
extension Date: KeyOrdered {}
extension UUID: KeyOrdered {}
