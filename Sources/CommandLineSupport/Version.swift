/// The version of the tools.
package enum Version {
  /// The number of this release.
  ///
  /// `.packaging/version` reads it from this line.
  package static let number = "0.1.0"
}
